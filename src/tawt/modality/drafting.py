"""Values for a first configuration, by how many examples there are.

They are where to begin, chosen so that a small target is passed over often enough, and no source
for so long that nobody waits for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.errors import DataError
from tawt.modality.recognising import Commented

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.modality.recognising import Recognised
    from tawt.modality.split_names import Split

_SMALL = 2000
"""Target examples. With fewer, sources and target are not trained on together."""
_FEW = 300
"""Target examples. Of fewer, none is held out only to choose the best epoch by."""
_FEWEST = 10
"""Examples of which dev and test can be held out."""
_LABELS = 5  # in a comment
_BATCH_SIZES = ((200, 8), (2000, 16))
_TARGET_EPOCHS = ((200, 20), (1000, 12), (5000, 6), (20_000, 4))
_SOURCE_EPOCHS = ((2000, 6), (10_000, 4), (50_000, 2))


def held_out(target: Recognised) -> Commented | None:
    """Fractions of the training examples to be cut off for a target that lacks dev or test.

    Args:
        target: As it was recognised.

    Returns:
        The field `held_out`; nothing where nothing has to be cut off.

    Raises:
        DataError: There are too few examples.
    """
    total = target.sizes["train"]
    share = 0.2 if total < _SMALL else 0.1
    missing: dict[Split, float] = {}
    if "dev" not in target.sizes and not ("test" in target.sizes and total < _FEW):
        missing["dev"] = share
    if "test" not in target.sizes:
        missing["test"] = share
    if not missing:
        return None
    if total < _FEWEST:
        raise DataError(
            f"The target {target.name!r} has {total} {target.plural} and no "
            f"{' or '.join(missing)} file, and of fewer than {_FEWEST} none can be held out to "
            "score on; give more, or a test file (its name with the word test in it)."
        )
    told = {"dev": "choose the best epoch by", "test": "report on"}
    why = " and ".join(f"{told[split]}" for split in missing)
    return Commented(
        missing, f"no file for {' or '.join(missing)}: shares of train to {why}, always the same"
    )


def cut_off(target: Recognised, cut: Commented | None) -> tuple[str, ...]:
    """What is said of the examples that are held out.

    Args:
        target: As it was recognised.
        cut: What `held_out` says of it.
    """
    if cut is None:
        return ()
    total, shares = target.sizes["train"], cut.value
    parts = " and ".join(f"{round(share * total)} as {split}" for split, share in shares.items())
    return (
        f"{target.name}: there is no {' or '.join(shares)} file; of the {total:,} {target.plural}, "
        f"{parts} are held out, which leaves {trained_on(target, cut):,} to train on.",
    )


def trained_on(target: Recognised, cut: Commented | None) -> int:
    """How many examples of the target are left to train on.

    Args:
        target: As it was recognised.
        cut: What `held_out` says of it.
    """
    shares: Mapping[str, float] = cut.value if cut is not None else {}
    return round(target.sizes["train"] * (1 - sum(shares.values())))


def sections(
    target: Recognised, sources: Sequence[Recognised], cut: Commented | None
) -> dict[str, Commented]:
    """The sections of all tasks, with what they are beside their names.

    Args:
        target: The task that counts.
        sources: All others.
        cut: What `held_out` says of the target.
    """
    found: dict[str, Commented] = {}
    for task in (target, *sources):
        more = {} if cut is None or task is not target else {"held_out": cut}
        listed = ", ".join(task.labels[:_LABELS]) + (", …" if len(task.labels) > _LABELS else "")
        size = f"{task.sizes['train']:,} {task.plural} to train on"
        about = f"{size}: {listed}" if listed else size
        found[task.name] = Commented({**task.section, **more}, about)
    return found


def course(size: int, sources: Sequence[Recognised], *, noun: str) -> dict[str, Any]:
    """The paradigm and numbers of passes.

    Args:
        size: How many examples of the target are trained on.
        sources: All of them.
        noun: What several examples of the target are called.

    Example:
        >>> {name: value.value for name, value in course(40, [], noun="sentences").items()}
        {'paradigm': 'single-task', 'target_epochs': 20}
    """
    passes = Commented(
        _by_size(_TARGET_EPOCHS, size, 3),
        f"passes over the target's {size:,} {noun}; the fewer, the more",
    )
    if not sources:
        alone = Commented("single-task", "there are no sources; give their files to init too")
        return {"paradigm": alone, "target_epochs": passes}
    total = sum(source.sizes["train"] for source in sources)
    if size < _SMALL:
        paradigm = Commented(
            "pre-training",
            "first the sources, then the target alone; in joint training so small a target counts "
            "for little",
        )
    else:
        paradigm = Commented(
            "joint then fine-tuning", "sources and target together, then the target alone"
        )
    over = Commented(
        _by_size(_SOURCE_EPOCHS, total, 1), f"passes over the sources' {total:,} examples"
    )
    return {"paradigm": paradigm, "epochs": over, "target_epochs": passes}


def batch_size(size: int) -> Commented:
    """Examples of a step.

    Args:
        size: How many examples of the target are trained on.

    Example:
        >>> batch_size(40).value, batch_size(10_000).value
        (8, 32)
    """
    return Commented(
        _by_size(_BATCH_SIZES, size, 32),
        "examples in a step; few for a small target",
    )


def weighting(sources: Sequence[Recognised]) -> dict[str, Any]:
    """The section `weighting`; nothing where there are no sources to be weighed."""
    if not sources:
        return {}
    kind = Commented("target-aware", "learn how much each source counts; or fixed: all the same")
    return {"weighting": {"kind": kind}}


def _by_size(table: Sequence[tuple[int, int]], size: int, otherwise: int) -> int:
    """The value beside the first bound that is above a size."""
    return next((value for bound, value in table if size < bound), otherwise)
