"""From sections of a configuration to tasks of text."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from tawt.errors import ConfigError, inside
from tawt.modality.learnable import nothing_to_learn
from tawt.text.encoding import load_tokenizer, longest_input
from tawt.text.kinds import Cutting, TaskOptions, kind_named
from tawt.text.model import kind_of
from tawt.text.reading import ReadOptions, SplitFiles, Splits, doubts, guess_format, load
from tawt.text.reading.columns import sample_columns, suggestion_for
from tawt.text.reading.doubts import only_label
from tawt.text.tokens import TaggedSentences, WholeTexts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tawt.tasks import Examples, Task
    from tawt.text.reading.report import ReadReport
    from tawt.text.sections import EncoderConfig, TextTask

_ANSWERS = {"tagging": "tags"}  # our name of the field; `label` for other kinds


def cutting_of(settings: EncoderConfig) -> Cutting:
    """How texts become pieces.

    Raises:
        ConfigError: The encoder cannot be had, or reads less at once.
    """
    with inside("model", "encoder"):
        tokenizer = load_tokenizer(settings.encoder)
        longest = longest_input(settings.encoder)
    if longest is not None and settings.max_length > longest:
        raise ConfigError(
            f"`model.max_length` is {settings.max_length}, but {settings.encoder} takes at most "
            f"{longest} pieces.",
            place=("model", "max_length"),
        )
    return Cutting(
        tokenizer=tokenizer,
        max_length=settings.max_length,
        long=settings.long,
        overlap=settings.overlap,
    )


def task_of(
    name: str,
    splits: Splits,
    cutting: Cutting,
    *,
    kind: str,
    wanted: TaskOptions,
    said: list[str],
) -> Task:
    """The task that these examples are.

    Args:
        name: Of the task.
        splits: Its examples.
        cutting: How they become pieces.
        kind: The name of the kind of task.
        wanted: What is said about it.
        said: Gets what a person would want to know before trusting a score.
    """
    said += [f"task {name!r}: {warning}" for warning in _doubtful(splits)]
    made = kind_named(kind).make(name, splits, cutting, wanted)
    made.train.notes = {**_noted(splits.report), **_cut(made)}
    said += [f"task {name!r}: {warning}" for warning in _doubtful_once_made(made)]
    return made if wanted.head is None else replace(made, head=wanted.head)


def check_learnable(name: str, splits: Splits, instead: Callable[[], str]) -> None:
    """Refuse a target whose labels are all the same.

    Args:
        name: Of the target.
        splits: Its examples.
        instead: What to give to have another label read, if that is known.

    Raises:
        DataError: They are.
    """
    if (only := only_label(splits.train)) is not None:
        raise nothing_to_learn(name, repr(only), instead())


def read_task(settings: TextTask, *, held_out: bool = True, seed: int = 0) -> Splits:
    """The examples of a task.

    Args:
        settings: Say where they are.
        held_out: Whether dev and test are read too.
        seed: By which training examples are drawn, where there is a limit.
    """
    files = split_files(settings, held_out=held_out)
    if not held_out and settings.folder is not None:
        # A source's other files need not even be readable.
        train = files.find_files()["train"]
        files = replace(files, folder=None, pattern=None, train=train)
    return load(
        files,
        kind=kind_named(settings.kind).reads,
        options=read_options(settings),
        invalid=settings.invalid,
        seed=seed,
    )


def split_files(settings: TextTask, *, held_out: bool = True) -> SplitFiles:
    """Where the examples of a task are, and how many are taken."""
    return SplitFiles(
        folder=settings.folder,
        pattern=settings.pattern,
        train=settings.train,
        dev=settings.dev if held_out else None,
        test=settings.test if held_out else None,
        held_out={str(split): share for split, share in settings.held_out.items()},
        limit=settings.limit,
        limit_dev=settings.limit_dev if held_out else None,
        limit_test=settings.limit_test if held_out else None,
    )


def read_options(settings: TextTask) -> ReadOptions:
    """How a task's files are read."""
    said = settings.model_fields_set  # what is not said may be doubted
    return ReadOptions(
        format=settings.format,
        separator=settings.separator,
        quote=settings.quote,
        word_column=settings.word_column if "word_column" in said else None,
        tag_column=settings.tag_column if "tag_column" in said else None,
        tag=settings.tag,
        layer=settings.layer,
        fields=settings.fields,
        rename=settings.rename,
        split=settings.split,
        encoding=settings.encoding,
    )


def other_columns(settings: TextTask) -> str:
    """What to read instead of a label that is always the same, where the file shows it."""
    first, options = split_files(settings).find_files()["train"][0], read_options(settings)
    kind = kind_named(settings.kind).reads
    form = options.format or guess_format(first, kind=kind, options=options)
    if form == "columns":
        between = options.between_columns(first)
        return suggestion_for(sample_columns(first, separator=between, encoding=options.encoding))
    of_records = f"the field that varies, as `fields: {{{_ANSWERS.get(kind, 'label')}: NAME}}`"
    return {
        "conllu": "another `tag` (upos, xpos or misc:KEY)",
        "ontonotes": "another `layer`",
    }.get(form, of_records)


def _noted(report: ReadReport) -> dict[str, Any]:
    """What there is to note, as JSON has it."""
    found = {key: value for key, value in asdict(report).items() if value and key != "sizes"}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}


def _cut(task: Task) -> dict[str, int]:
    """Words and texts that are past `max_length`, by split."""
    return {
        f"{what} of {split}": count
        for split, examples in task.splits().items()
        for what, count in _cut_from(examples).items()
        if count
    }


def _cut_from(examples: Examples) -> dict[str, int]:
    if isinstance(examples, TaggedSentences):
        return {"cut_words": examples.cut_words}
    return {"cut_texts": examples.cut_texts} if isinstance(examples, WholeTexts) else {}


def _doubtful(splits: Splits) -> Iterator[str]:
    """What a person would want to know before trusting a score."""
    report = splits.report
    if report.repaired:
        yield f"tags of {report.repaired} sentences broke IOB2; repaired"
    for split, count in report.duplicates.items():
        if count:
            yield f"{count} examples of {split} are in train too"
    parts = {"train": splits.train, "dev": splits.dev, "test": splits.test}
    yield from doubts({split: part for split, part in parts.items() if part is not None})


def _doubtful_once_made(task: Task) -> Iterator[str]:
    if unseen := kind_of(task).unseen:
        yield f"labels only in held-out examples, never right: {', '.join(unseen[:10])}"
    for what, count in _cut(task).items():
        part, _, split = what.partition(" of ")
        rule = {
            "cut_words": f"words of {split} are past `max_length`, neither learned nor scored",
            "cut_texts": f"texts of {split} are longer than `max_length`; their ends are not read",
        }[part]
        yield f"{count} {rule}"
