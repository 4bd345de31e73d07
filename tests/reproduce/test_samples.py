"""Words in names: sentences that both tasks have, features, and what each seed draws."""

import numpy as np
import pytest

from tawt.errors import ConfigError, DataError
from tawt.reproduce import Request
from tawt.reproduce.name_words import NameWords, name_words, paired
from tawt.reproduce.sample_runs import SampleRun, SampleSettings, write_examples
from tawt.reproduce.samples_figure import SamplesFigure
from tawt.text.reading import TaggedSentence
from tests.reproduce.made_up import setup


def sentence(text, tags):
    return TaggedSentence(tuple(text.split()), tuple(tags.split()), 1)


# Pairs


def test_sentences_are_paired_by_their_words():
    first = [sentence("a b", "X Y"), sentence("c", "Z"), sentence("only here", "X X")]
    second = [sentence("only there", "O O"), sentence("c", "B-P"), sentence("a b", "O B-Q")]
    assert [(one.tags, two.tags) for one, two in paired(first, second)] == [
        (("X", "Y"), ("O", "B-Q")),
        (("Z",), ("B-P",)),
    ]


def test_of_several_alike_the_first_goes_with_the_first():
    first = [sentence("a", tag) for tag in ("1", "2", "3")]
    second = [sentence("a", tag) for tag in ("I", "II")]
    found = [(one.tags, two.tags) for one, two in paired(first, second)]
    assert found == [(("1",), ("I",)), (("2",), ("II",))]


def test_the_same_words_in_another_case_are_another_sentence():
    assert list(paired([sentence("Ann", "X")], [sentence("ann", "O")])) == []


def test_nothing_is_paired_twice():
    once = [sentence("a", "X")]
    assert len(list(paired(once * 3, once))) == 1
    assert len(list(paired(once, once * 3))) == 1


# Features


TAGGED = [sentence("Ann Lee saw Rome today", "N1 N2 V N3 T")]
TYPED = [sentence("Ann Lee saw Rome today", "B-PER I-PER O B-LOC O")]


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("ann 1 10\nlee 2 20\nsaw 3 30\nrome 4 40\n")  # and no `today`
    return str(path)


def words_of(tagged, typed, vectors=None):
    return name_words({"train": tagged}, {"train": typed}, vectors)["train"]


def test_words_inside_names_have_five_vectors_in_a_row(vectors):
    found = words_of(TAGGED, TYPED, vectors)
    assert found.tags.tolist() == ["N1", "N2", "N3"]
    assert found.types.tolist() == ["PER", "PER", "LOC"]
    np.testing.assert_array_equal(
        found.features,
        [
            [0, 0, 0, 0, 1, 10, 2, 20, 3, 30],
            [0, 0, 1, 10, 2, 20, 3, 30, 4, 40],
            [2, 20, 3, 30, 4, 40, 0, 0, 0, 0],  # today has no vector
        ],
    )


def test_without_vectors_they_are_drawn_and_always_the_same():
    first, second = words_of(TAGGED, TYPED), words_of(TAGGED, TYPED)
    np.testing.assert_array_equal(first.features, second.features)
    assert first.features.shape == (3, 50)
    assert np.abs(first.features).max() > 0


def test_vectors_that_fit_no_word_are_refused(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("anders 1 2\n")
    with pytest.raises(DataError, match="a vector for none of the data's 5 words"):
        words_of(TAGGED, TYPED, str(path))


@pytest.mark.parametrize(
    "typed", [[sentence("Other words", "B-PER O")], [sentence("Ann Lee saw Rome today", "O " * 5)]]
)
def test_no_name_in_common_is_refused(typed):
    with pytest.raises(DataError, match="share no sentence with a name in train"):
        words_of(TAGGED, typed)


# Draws


SETTINGS = SampleSettings(source=12, target=6, hidden=4, epochs=5, batch_size=4)


def many(count, seed):
    """Words whose one feature is their number, so that each can be recognised."""
    draw = np.random.default_rng(seed)
    return NameWords(
        1000 * seed + np.arange(count, dtype=np.float32)[:, None],
        draw.choice(["N", "V", "A"], count),
        draw.choice(["PER", "LOC"], count),
    )


@pytest.fixture
def written(tmp_path):
    words = {"train": many(30, 1), "test": many(10, 2)}
    about = write_examples(tmp_path, words, SETTINGS, (0, 1, 2))
    files = {path.name: dict(np.load(path)) for path in tmp_path.glob("*.npz")}
    return words, about, files


def test_source_and_target_have_different_words(written):
    _, _, files = written
    for seed in (0, 1, 2):
        source, target = (files[f"{task}.{seed}.npz"]["inputs"] for task in ("pos", "type"))
        assert (len(source), len(target)) == (12, 6)
        assert len({*source.ravel(), *target.ravel()}) == 18


def test_the_test_words_are_the_same_for_all_seeds_and_never_trained_on(written):
    words, _, files = written
    assert [name for name in files if "test" in name] == ["type.test.npz"]
    test = files["type.test.npz"]["inputs"]
    np.testing.assert_array_equal(test, words["test"].features)
    for seed in (0, 1, 2):
        for task in ("pos", "type"):
            assert not set(test.ravel()) & set(files[f"{task}.{seed}.npz"]["inputs"].ravel())


def test_each_seed_draws_others(written):
    _, _, files = written
    drawn = [files[f"type.{seed}.npz"]["inputs"].ravel().tolist() for seed in (0, 1, 2)]
    assert len({tuple(each) for each in drawn}) == 3


def test_a_seed_draws_the_same_again(tmp_path, written):
    words, _, files = written
    write_examples(tmp_path / "again", words, SETTINGS, (1,))
    again = np.load(tmp_path / "again" / "pos.1.npz")
    np.testing.assert_array_equal(again["inputs"], files["pos.1.npz"]["inputs"])
    np.testing.assert_array_equal(again["labels"], files["pos.1.npz"]["labels"])


def test_labels_are_those_of_the_words(written):
    words, about, files = written
    tags, types = about["labels"]
    assert (tags, types) == (["A", "N", "V"], ["LOC", "PER"])
    for name, array in files.items():
        split = words["test" if "test" in name else "train"]
        places = (array["inputs"].ravel() % 1000).astype(int)
        named, labels = (split.tags, tags) if name.startswith("pos") else (split.types, types)
        assert [labels[label] for label in array["labels"]] == named[places].tolist()


def test_what_is_known_about_the_words(written):
    words, about, _ = written
    assert about["words"] == {"train": 30, "test": 10}
    _, counts = np.unique(words["test"].types, return_counts=True)
    assert about["majority"] == max(counts) / 10


def test_too_few_words_are_refused_and_nothing_is_written(tmp_path):
    words = {"train": many(17, 1), "test": many(10, 2)}
    with pytest.raises(ConfigError, match="wants 18 words in names; the data has 17"):
        write_examples(tmp_path, words, SETTINGS, (0,))
    assert list(tmp_path.iterdir()) == []


# Runs


def config(tmp_path, paradigm, unit=None, settings=None):
    labels = (("N", "V"), ("LOC", "PER"))
    return SampleRun(tmp_path, settings or SampleSettings(), labels, paradigm, unit).config(3)


def test_the_papers_settings(tmp_path):
    found = config(tmp_path, "joint", "example")
    assert (found.seed, found.target, found.epochs, found.target_epochs) == (3, "type", 200, 200)
    assert found.model.widths == [4096]
    assert (found.training.batch_size, found.training.learning_rate) == (128, 3e-4)
    assert (found.training.decay, found.training.gradient_examples) == ("none", 100)
    weighting = found.weighting
    assert (weighting.kind, weighting.unit) == ("target-aware", "example")
    assert (weighting.alignment, weighting.step_size) == ("curvature", 1)
    assert (weighting.curvature.kind, weighting.curvature.scale) == ("identity", 5)


@pytest.mark.parametrize(("paradigm", "steps"), [("joint", 8 + 1), ("pre-training", 8)])
def test_weights_move_every_five_epochs(tmp_path, paradigm, steps):
    assert config(tmp_path, paradigm, "group").training.update_every == 5 * steps


def test_plain_runs_move_nothing(tmp_path):
    for paradigm in ("single-task", "pre-training", "joint"):
        assert config(tmp_path, paradigm).weighting.kind == "fixed"
        assert config(tmp_path, paradigm).weighting.initial == "proportional"


def test_the_figure_needs_two_tasks_and_vectors():
    figure = SamplesFigure()
    with pytest.raises(ConfigError, match="--data with the tasks pos and ner"):
        figure.check(Request(seeds=(0,), vectors="v.txt"))
    only = setup(tasks={"pos": {}})
    with pytest.raises(ConfigError, match="tasks pos and ner"):
        figure.check(Request(seeds=(0,), setup=only, vectors="v.txt"))
    with pytest.raises(ConfigError, match="needs --vectors"):
        figure.check(Request(seeds=(0,), setup=setup()))
    figure.check(Request(seeds=(0,), setup=setup(encoder=""), vectors="v.txt"))
