"""From a configuration to the answer: what is run, resumed, refused and left behind."""

import json
from dataclasses import replace

import pytest

from tawt.config import load, parsed
from tawt.errors import ConfigError, DataError, Interrupted, RunError
from tawt.mix import load_mix, mix
from tawt.mix.study import BY_SIZE, EQUAL, LEARNED
from tawt.runs import Options, RunFolder
from tawt.sweeps import Sweep
from tests.mix.cases import Corpora

RUNS = ["equal-weights", "learned-weights", "weights-by-size"]


def found(corpora, folder, *, seeds=1, **given):
    return mix(load(corpora.path), folder, seeds=seeds, **given)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A configuration, its folder, and the answer from two seeds."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tawt.mix.speed._SECONDS", 0.02)
        corpora = Corpora(tmp_path_factory.mktemp("toy"))
        folder = corpora.folder / "mixture"
        heard = []
        answer = found(corpora, folder, seeds=2, on_plan=heard.append)
        return corpora, folder, answer, heard


# What comes out


def test_the_source_that_is_like_the_target_is_found(finished):
    _, _, answer, _ = finished
    assert next(iter(answer.mixture)) == "near"
    near, far, noise = (
        next(c for c in answer.corpora if c.name == name) for name in ("near", "far", "noise")
    )
    assert near.weight > 0.6
    assert max(far.weight, noise.weight) < 0.2
    assert not any(corpus.at_floor for corpus in answer.corpora)  # no bound by default
    learned = answer.loss(LEARNED)
    assert all(
        ours < theirs
        for ours, theirs in zip(learned.scores, answer.loss(EQUAL).scores, strict=True)
    )
    assert learned.gains[BY_SIZE].mean > 0


def test_the_answer_is_that_of_the_runs_records(finished):
    _, folder, answer, _ = finished
    for row in answer.losses:
        for seed, score in enumerate(row.scores):
            record = RunFolder(folder / row.name.replace(" ", "-") / str(seed)).record()
            assert record["scores"]["goal"]["test"]["bits_per_byte"] == score
            assert record["steps"] == 60
    late = []
    for seed in answer.seeds:
        updates = RunFolder(folder / "learned-weights" / str(seed)).updates()
        held = [0] * 60  # the weights in force in each step
        for update in updates:
            held[update["step"] :] = [update["weights"]["near"]] * (60 - update["step"])
        assert updates[0]["step"] == 3  # a twentieth of the run
        late += held[30:]
    near = next(corpus for corpus in answer.corpora if corpus.name == "near")
    assert near.weight == pytest.approx(sum(late) / len(late))


def test_runs_are_told_of_before_they_begin(finished):
    _, _, _, [intent] = finished
    assert intent.learns == [True, False, False] * 2
    assert intent.in_words().startswith("6 runs of 60 steps (")
    assert intent.seconds > 0


def test_what_is_left_is_read_again_as_it_was(finished):
    _, folder, answer, _ = finished
    assert load_mix(folder) == answer
    left = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    files = {"mix.yaml", "plan.json", "mix.json", "mixture.yaml", "mixture.json", "mix.md"}
    assert left == {*RUNS, *files, "report.html"}
    assert not (folder / "learned-weights" / "0" / "model").exists()


def test_finished_runs_are_not_made_again(finished, listing):
    corpora, folder, answer, _ = finished
    before = listing(folder / "learned-weights")
    heard = []
    again = found(corpora, folder, seeds=2, on_plan=heard.append)
    assert again == answer
    assert listing(folder / "learned-weights") == before
    assert heard[0].in_words() == "All 6 runs are finished."


def test_more_tokens_change_the_passes_and_nothing_else(finished):
    corpora, folder, answer, _ = finished
    more = found(corpora, folder, seeds=2, tokens="1M")
    assert more.wanted == 1_000_000
    assert more.losses == answer.losses
    ratio = 1_000_000 / answer.amount
    for one, other in zip(answer.corpora, more.corpora, strict=True):
        assert other.uncapped_passes == pytest.approx(ratio * one.uncapped_passes)
    found(corpora, folder, seeds=2)


def test_fewer_seeds_are_answered_from_the_runs_that_are_there(finished):
    corpora, folder, answer, _ = finished
    fewer = found(corpora, folder, seeds=1)
    assert fewer.loss(LEARNED).scores == answer.loss(LEARNED).scores[:1]
    assert found(corpora, folder, seeds=2) == answer


def test_a_mixture_that_was_interrupted_comes_to_the_same(finished, tmp_path):
    """Stopped in the middle of the third run, and gone on with."""
    corpora, _, answer, _ = finished
    asked = 0

    def should_stop():
        nonlocal asked
        asked += 1
        return asked == 170

    folder = tmp_path / "again"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tawt.mix.question.Sweep", lambda: Sweep(should_stop=should_stop))
        with pytest.raises(Interrupted):
            found(corpora, folder, seeds=2)
    assert not (folder / "mix.json").exists()
    assert any(not run.finished for run in map(RunFolder, folder.glob("*/0")))
    again = found(corpora, folder, seeds=2, resume=True)
    same = {"seconds": answer.seconds, "circumstances": answer.circumstances}
    assert replace(again, **same) == answer


def test_held_out_text_in_a_source_is_said_with_the_answer(corpora, tmp_path):
    every = [(corpora.folder / f"{name}.txt").read_text() for name in ("near", "goal")]
    (corpora.folder / "near.txt").write_text("".join(every))
    answer = found(corpora, tmp_path / "mixture")
    [said] = answer.warnings
    assert said.startswith("'near' trains on documents of the target 'goal' that are held out")
    assert load_mix(tmp_path / "mixture") == answer
    assert said in (tmp_path / "mixture" / "mix.md").read_text()


# Budgets


def test_a_budget_is_decided_once_and_kept(corpora, tmp_path):
    folder = tmp_path / "mixture"
    first = found(corpora, folder, budget="36K")
    plan = json.loads((folder / "plan.json").read_text())
    assert plan["budget"] == "36K"
    assert plan["steps"] == first.steps == int(36_000 / 3 / plan["per_step"])
    assert found(corpora, folder) == first  # without a budget, the one that is there
    assert found(corpora, folder, budget="36K") == first
    with pytest.raises(RunError, match=r"--budget is 40K now and was 36K in the folder"):
        found(corpora, folder, budget="40K")
    longer = found(corpora, folder, budget="40K", options=Options(overwrite=True))
    assert longer.steps > first.steps


def test_a_time_is_turned_into_steps_that_fit_it(corpora, tmp_path):
    heard = []

    def stop(intent):
        heard.append(intent)
        raise Interrupted("Stopped as asked.")

    with pytest.raises(Interrupted):
        found(corpora, tmp_path / "mixture", budget="5m", on_plan=stop)
    assert heard[0].seconds <= 300
    assert heard[0].plan.steps > 200


def test_a_budget_takes_the_place_of_steps_that_passes_would_not_be_enough_for(corpora, tmp_path):
    corpora.values["training"] |= {"steps": 100_000, "most_passes": 4}
    corpora.write()
    with pytest.raises(ConfigError, match=r"`steps` \(100000\) .* `most_passes` \(4\)"):
        found(corpora, tmp_path / "mixture")
    assert not (tmp_path / "mixture").exists()
    heard = []

    def stop(intent):
        heard.append(intent)
        raise Interrupted("Stopped as asked.")

    with pytest.raises(Interrupted):
        found(corpora, tmp_path / "mixture", budget="36K", on_plan=stop)
    assert 50 <= heard[0].plan.steps < 100


@pytest.mark.parametrize("budget", ["1s", "1K"])
def test_too_small_a_budget_writes_nothing(corpora, tmp_path, budget):
    with pytest.raises(ConfigError, match="fewer than 50 steps"):
        found(corpora, tmp_path / "mixture", budget=budget, seeds=30)
    assert not (tmp_path / "mixture").exists()


# What is refused


def test_another_configuration_is_refused_and_named(finished, listing):
    corpora, folder, _, _ = finished
    before = listing(folder)
    changed = load(corpora.path, {"training.batch_size": 4})
    with pytest.raises(RunError, match=r"`training.batch_size` is 4 now and was 8 in the folder"):
        mix(changed, folder, seeds=2)
    assert listing(folder) == before


def test_data_that_has_changed_is_refused(corpora, tmp_path):
    folder = tmp_path / "mixture"
    found(corpora, folder)
    corpora.write_text("far", "xyz", lines=90, seed=9)
    with pytest.raises(RunError, match="'far'"):
        found(corpora, folder)
    assert found(corpora, folder, options=Options(overwrite=True)).mixture


def test_a_folder_of_something_else_is_refused_untouched(corpora, tmp_path, listing):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(RunError, match="holds no mixture and is not empty"):
        found(corpora, tmp_path / "notes", options=Options(overwrite=True))
    assert listing(tmp_path / "notes") == {"mine.txt": b"mine"}


def test_there_must_be_something_to_resume(corpora, tmp_path):
    with pytest.raises(RunError, match="nothing to go on with; leave --resume out"):
        found(corpora, tmp_path / "mixture", resume=True)
    with pytest.raises(RunError, match="Either --resume goes on"):
        found(corpora, tmp_path / "m", resume=True, options=Options(overwrite=True))
    assert not (tmp_path / "mixture").exists()


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("target", {"goal": 0.5, "far": 0.5}, "answers for one target"),
        ("weighting.unit", "example", "weighs whole sources; got `weighting.unit: example`"),
        ("training", {"sampling": "size", "steps": None}, "needs `training.sampling: mixed`"),
        ("sources", ["near"], r"at least two sources; got 1\. Add another"),
        ("training.steps", 49, "fewer than 50 steps each.* raise `training.steps`"),
        ("data.corpora.goal.held_out", {}, "neither dev nor test examples"),
    ],
)
def test_what_cannot_be_answered_is_one_line_and_writes_nothing(
    corpora, tmp_path, field, value, said
):
    corpora.set(field, value)
    with pytest.raises((ConfigError, DataError), match=said) as error:
        found(corpora, tmp_path / "mixture")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "mixture").exists()


def test_a_length_that_no_clock_decides_is_refused_before_anything_is_timed(
    corpora, tmp_path, monkeypatch
):
    monkeypatch.setattr("tawt.mix.question.measured_speed", None)  # which cannot be called
    with pytest.raises(ConfigError, match="fewer than 50 steps"):
        found(corpora, tmp_path / "mixture", budget="1K")


@pytest.mark.parametrize("seeds", [0, -1, 1.5, True])
def test_seeds_are_counted(corpora, tmp_path, seeds):
    with pytest.raises(ConfigError, match="`seeds` is a number of runs, at least 1"):
        found(corpora, tmp_path / "mixture", seeds=seeds)


def test_targets_with_a_head_of_their_own_are_sent_elsewhere(tmp_path):
    config = parsed({"data": {"kind": "digits"}, "target": "digit"})
    with pytest.raises(ConfigError, match=r"head of the target 'digit' would stay.*`tawt compare`"):
        mix(config, tmp_path / "mixture")


@pytest.mark.parametrize("text", ["{", "[]", '{"target": "goal"}'])
def test_a_damaged_answer_is_said_to_be(tmp_path, text):
    (tmp_path / "mix.json").write_text(text)
    with pytest.raises(RunError, match=r"mix\.json"):
        load_mix(tmp_path)


def test_an_answer_that_was_edited_is_refused(finished, tmp_path):
    _, folder, _, _ = finished
    text = (folder / "mix.json").read_text().replace('"near"', '"nearer"')
    (tmp_path / "mix.json").write_text(text)
    with pytest.raises(RunError, match="checksum"):
        load_mix(tmp_path)


def test_dev_text_is_reported_on_where_there_is_no_test_text(corpora, tmp_path):
    corpora.set("data.corpora.goal.held_out", {"dev": 0.3})
    assert found(corpora, tmp_path / "mixture").split == "dev"


def test_sources_of_one_size_have_two_kinds_of_runs(corpora, tmp_path):
    for name, seed in (("near", 1), ("far", 2), ("noise", 3)):
        corpora.write_text(name, "abcde", lines=1, seed=seed)
        (corpora.folder / f"{name}.txt").write_text((name[0] * 99 + "\n") * 20)
    answer = found(corpora, tmp_path / "mixture")
    assert [row.name for row in answer.losses] == [LEARNED, EQUAL]
    assert sorted(path.name for path in (tmp_path / "mixture").glob("*weights*")) == RUNS[:2]
