"""One queue and one store: what a plan wants is made once, in waves, the longest first."""

import pytest

from tawt.errors import DataError, FolderInUse, RunError, TawtError
from tawt.sweeps import Context, Plan, RecordStore, Sweep, Work, in_this_process


class Leave:
    """Work that leaves its key."""

    def __init__(self, store, key):
        self.store, self.key = store, key

    def __call__(self, context):
        self.store.keep(self.key, {"key": self.key})


@pytest.fixture
def store(tmp_path):
    return RecordStore(tmp_path, "records/{}.json", sealed=True, remedy="Make it again.")


def work(store, key, **changes):
    return Work(key, f"work {key}", Leave(store, key), **changes)


class Executor:
    """Makes work here; some of it fails, or is made elsewhere at first."""

    def __init__(self, errors=None):
        self.errors, self.calls = errors or {}, []

    def __call__(self, wanted, *, workers, wait, should_stop, on_end, on_share):
        self.calls.append(([each.key for each in wanted], workers, wait))
        for each in wanted:
            error = self.errors.get(each.key)
            if error is None or (wait and isinstance(error, FolderInUse)):
                each.make(Context(should_stop, wait))
                error = None
            on_end(each, error)


def test_the_longest_is_begun_first_and_the_same_is_made_once(store):
    wanted = [work(store, key, size=size) for key, size in (("a", 1), ("b", 3), ("a", 1), ("c", 2))]
    executor = Executor()
    assert Sweep(workers=8).make(lambda: Plan(wanted), store, executor=executor)
    assert executor.calls == [(["b", "c", "a"], 3, False)]
    assert Sweep().make(lambda: Plan(wanted), store, executor=executor)
    assert len(executor.calls) == 1


def test_a_plan_may_want_more_when_something_is_there(store):
    def plan():
        first = work(store, "a")
        return Plan([first, work(store, "b")] if store.find("a") else [first], not store.find("a"))

    executor, told = Executor(), []
    sweep = Sweep(on_progress=lambda now: told.append((now.done, now.total)))
    assert sweep.make(plan, store, executor=executor)
    assert [keys for keys, _, _ in executor.calls] == [["a"], ["b"]]
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_what_another_process_makes_is_left_for_last_and_waited_for(store):
    executor = Executor({"a": FolderInUse("by another")})
    assert Sweep().make(lambda: Plan([work(store, k) for k in "ab"]), store, executor=executor)
    assert executor.calls == [(["a", "b"], 1, False), (["a"], 1, True)]


def test_failures_are_named_when_the_rest_is_done(store):
    executor = Executor({"a": DataError("no data."), "c": DataError("none either.")})
    with pytest.raises(TawtError) as error:
        Sweep().make(lambda: Plan([work(store, k) for k in "abcd"]), store, executor=executor)
    said = "2 of 4 runs failed; the first: work a: no data. The others: work c."
    assert str(error.value) == said
    assert store.find("b")
    assert store.find("d")


def test_a_bug_is_raised_at_once(store):
    executor = Executor({"a": ZeroDivisionError("ours")})
    with pytest.raises(ZeroDivisionError):
        Sweep().make(lambda: Plan([work(store, k) for k in "ab"]), store, executor=executor)
    assert store.find("b") is None


def test_a_record_of_something_else_is_made_again(store):
    store.keep("a", {"key": "old"})
    fresh = work(store, "a", fits=lambda record: record["key"] == "a")
    assert Sweep().make(lambda: Plan([fresh]), store, executor=Executor())
    assert store.find("a") == {"key": "a"}


def test_work_whose_record_does_not_stay_ends_in_an_error_and_not_in_a_circle(store):
    never = work(store, "a", fits=lambda record: False)
    with pytest.raises(RunError, match="work a was made, and its record is gone"):
        Sweep().make(lambda: Plan([never]), store, executor=Executor())


def test_work_in_this_process_tells_its_share(store):
    def half(context):
        context.on_share(0.5)
        store.keep("a", {})

    told = []
    assert Sweep(on_progress=lambda now: told.append(now.done)).make(
        lambda: Plan([Work("a", "a", half)]), store, executor=in_this_process
    )
    assert told == [0, 0.5, 1]


def test_a_damaged_record_is_refused_with_its_remedy(store):
    store.keep("a", {"key": "a"})
    store.path("a").write_text("{")
    with pytest.raises(RunError, match=r"a\.json.*Make it again"):
        RecordStore(store.folder, "records/{}.json", remedy="Make it again.").find("a")
