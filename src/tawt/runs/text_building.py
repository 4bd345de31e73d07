"""From a configuration to tasks of text."""

from __future__ import annotations

import itertools
import logging
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from tawt.config.data_sections import EncoderConfig, GrammarData, TextData, TextTask
from tawt.errors import ConfigError, inside
from tawt.runs.learnable import nothing_to_learn
from tawt.text.encoding import load_tokenizer, longest_input
from tawt.text.grammar import generate
from tawt.text.kinds import Cutting, Wanted, kind_named
from tawt.text.reading import (
    ReadOptions,
    SplitFiles,
    Splits,
    TaggedSentence,
    doubts,
    guess_format,
    load,
)
from tawt.text.reading.columns import sample_columns, suggestion_for
from tawt.text.reading.doubts import only_label
from tawt.text.reading.report import ReadReport
from tawt.text.tokens import TaggedExamples, WholeTexts
from tawt.training.streams import derived_seed, stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tawt.config.schema import RunConfig
    from tawt.tasks import Task
    from tawt.text.reading import Example

_log = logging.getLogger(__name__)
_ANSWERS = {"tagging": "tags"}  # our name of the field; `label` for other kinds
_HELD_OUT = {"dev": 50, "test": 300}  # sentences of the generated corpus


def tasks(config: RunConfig, names: Sequence[str]) -> list[Task]:
    """The tasks of these names. Only targets keep their held-out examples.

    Raises:
        TawtError: If one of them cannot be read, or a target has nothing to learn.
    """
    cutting = cutting_of(config)
    said: list[str] = []
    made = [_task(config, name, cutting, said) for name in names]
    for warning in said:  # not before it is clear that there is no error
        _log.warning("%s", warning)
    return made


def cutting_of(config: RunConfig) -> Cutting:
    """How texts become pieces."""
    settings = config.model
    assert isinstance(settings, EncoderConfig)
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


def splits_of(config: RunConfig, name: str, *, held_out: bool = True) -> Splits:
    """The examples of a task, as they are read.

    Args:
        config: Says where they are.
        name: Of the task.
        held_out: Whether dev and test are read too.
    """
    if isinstance(config.data, GrammarData):
        return _generated(config.data, name, seed=config.seed, target=name in config.targets)
    assert isinstance(config.data, TextData)
    settings = config.data.tasks[name]
    with inside("data", "tasks", name, saying=f"Task {name!r}: "):
        return read_task(settings, held_out=held_out, seed=config.seed)


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
        train = files.found()["train"]
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
        split=settings.split,
        encoding=settings.encoding,
    )


def _task(config: RunConfig, name: str, cutting: Cutting, said: list[str]) -> Task:
    is_target = name in config.targets
    splits = splits_of(config, name, held_out=is_target)
    if not is_target:
        splits = Splits(splits.train, None, None, splits.report)
    elif (only := only_label(splits.train)) is not None:
        raise nothing_to_learn(name, repr(only), _other_columns(config, name))
    said += [f"task {name!r}: {warning}" for warning in _doubtful(splits)]
    kind, wanted = "tagging", Wanted()
    if isinstance(config.data, TextData):
        settings = config.data.tasks[name]
        kind = settings.kind
        wanted = Wanted(labels=settings.labels, metric=settings.metric, positive=settings.positive)
    made = kind_named(kind).make(name, splits, cutting, wanted)
    assert isinstance(made.train, TaggedExamples | WholeTexts)
    made.train.notes = {**_noted(splits.report), **_cut(made)}
    said += [f"task {name!r}: {warning}" for warning in _doubtful_once_made(made)]
    return made


def _other_columns(config: RunConfig, name: str) -> str:
    """What to read instead, where the file shows it."""
    assert isinstance(config.data, TextData | GrammarData)
    if not isinstance(config.data, TextData):
        return ""
    settings = config.data.tasks[name]
    first, options = split_files(settings).found()["train"][0], read_options(settings)
    kind = kind_named(settings.kind).reads
    form = options.format or guess_format(first, kind=kind, options=options)
    if form == "columns":
        sample = sample_columns(first, separator=options.between, encoding=options.encoding)
        return suggestion_for(sample)
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
        for split in ("train", "dev", "test")
        for what in ("cut_words", "cut_texts")
        if (count := getattr(getattr(task, split), what, 0))
    }


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
    if unseen := getattr(task.kind, "unseen", ()):
        yield f"labels only in held-out examples, never right: {', '.join(unseen[:10])}"
    for what, count in _cut(task).items():
        part, _, split = what.partition(" of ")
        rule = {
            "cut_words": f"words of {split} are past `max_length`, neither learned nor scored",
            "cut_texts": f"texts of {split} are longer than `max_length`; their ends are not read",
        }[part]
        yield f"{count} {rule}"


_LAYERS = {"pos": "pos", "chunk": "chunks", "predicate": "predicates", "entity": "entities"}


def _generated(data: GrammarData, name: str, *, seed: int, target: bool) -> Splits:
    """Sentences of the generated corpus; a source's are news, the target's are web text."""

    def sentences(split: str, count: int, of: int) -> list[Example]:
        corpus_seed = derived_seed(of, "grammar", name, split) % 2**31
        made = generate(count, seed=corpus_seed, register="web" if target else "news")
        layer = _LAYERS.get(name, "pos")
        tags = [tag for sentence in made for tag in getattr(sentence, layer)]
        if name not in _LAYERS:
            tags = [tags[place] for place in stream(corpus_seed, "shuffled").permutation(len(tags))]
        ends = itertools.accumulate(len(sentence.words) for sentence in made)
        return [
            TaggedSentence(each.words, tuple(tags[end - len(each.words) : end]), number)
            for number, (each, end) in enumerate(zip(made, ends, strict=True), start=1)
        ]

    train = sentences("train", data.target_size if target else data.source_size, seed)
    held = {split: sentences(split, count, 0) for split, count in _HELD_OUT.items()}
    sizes = {"train": len(train)} | {split: len(part) for split, part in held.items()}
    return Splits(train, held["dev"], held["test"], ReadReport(sizes=sizes, duplicates={}))
