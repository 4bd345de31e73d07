"""From a configuration, or a file, to what is in the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.config.data_sections import EncoderConfig, GrammarData, TextData
from tawt.errors import ConfigError
from tawt.runs import array_building, building, text_building
from tawt.runs.inspecting.facts import DataFacts
from tawt.runs.inspecting.measured import SPLITS, measured_arrays, measured_text, overlaps
from tawt.runs.inspecting.warnings import warnings
from tawt.text.encoding import load_tokenizer
from tawt.text.kinds import Cutting
from tawt.text.reading import ReadOptions, SplitFiles, load
from tawt.text.reading.hub import is_hub

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tawt.config.schema import RunConfig
    from tawt.runs.inspecting.facts import Role
    from tawt.runs.inspecting.measured import Measured
    from tawt.text.reading import Example, Splits, TaskKind

_USUAL = ReadOptions()


def inspect_config(config: RunConfig) -> DataFacts:
    """What is in the tasks that a run would use; one task's examples are held at a time.

    Args:
        config: Of the run. Where its encoder cannot be had, a warning says so, and pieces are not
            counted.

    Raises:
        TawtError: If a task cannot be read.
    """
    names = building.used_names(config)
    ordered = [*config.targets, *(name for name in names if name not in config.targets)]
    if not isinstance(config.model, EncoderConfig):
        found = {task.name: task for task in array_building.tasks(config, names)}
        return _facts([measured_arrays(found[name], role=_role(config, name)) for name in ordered])
    cutting, missing = None, []
    try:
        cutting = text_building.cutting_of(config)
    except ConfigError as error:
        missing.append(f"Pieces are not counted: {error}")
    return _facts([_text_task(config, name, cutting) for name in ordered], *missing)


def inspect_file(
    path: Path,
    *,
    kind: TaskKind = "tagging",
    options: ReadOptions = _USUAL,
    encoder: str | None = None,
    max_length: int = 128,
) -> DataFacts:
    r"""What is in a data file of any format, or in a folder with files of several splits.

    Args:
        path: The file (its examples are the split `all`), or the folder.
        kind: The kind of task.
        options: How it is read.
        encoder: Whose pieces are counted, if given.
        max_length: Most pieces to a row.

    Raises:
        TawtError: If it cannot be read, or there is no such encoder.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "ner.tsv")
        ...     _ = path.write_text("EU\tB-ORG\nrejects\tO\n\nEU\tB-ORG\n")
        ...     facts = inspect_file(path)
        >>> facts.tasks[0].splits["all"].labels[0]
        LabelCount(label='B-ORG', count=2, share=0.6666666666666666)
    """
    several = path.is_dir() or is_hub(path)
    files = SplitFiles(folder=path) if several else SplitFiles(train=path)
    splits = load(files, kind=kind, options=options, seed=0)
    examples = _by_split(splits) if several else {"all": splits.train}
    cutting = None
    if encoder is not None:
        cutting = Cutting(tokenizer=load_tokenizer(encoder), max_length=max_length)
    task = measured_text(
        path.stem, examples, splits.report, kind=kind, role="file", cutting=cutting
    )
    return _facts([task])


def _text_task(config: RunConfig, name: str, cutting: Cutting | None) -> Measured:
    splits = text_building.splits_of(config, name)
    examples, role = _by_split(splits), _role(config, name)
    if isinstance(config.data, GrammarData) and role == "source":
        examples = {"train": splits.train}  # the generator makes held-out sentences for all
    kind = config.data.tasks[name].kind if isinstance(config.data, TextData) else "tagging"
    return measured_text(name, examples, splits.report, kind=kind, role=role, cutting=cutting)


def _role(config: RunConfig, name: str) -> Role:
    return "target" if name in config.targets else "source"


def _by_split(splits: Splits) -> Mapping[str, Sequence[Example]]:
    return {split: part for split in SPLITS if (part := getattr(splits, split)) is not None}


def _facts(tasks: Sequence[Measured], *known: str) -> DataFacts:
    found, shared = tuple(task.facts for task in tasks), overlaps(tasks)
    return DataFacts(tasks=found, overlaps=shared, warnings=(*known, *warnings(found, shared)))
