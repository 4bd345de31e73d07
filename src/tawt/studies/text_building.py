"""From a configuration to tasks of text."""

from __future__ import annotations

import itertools
import logging
from typing import TYPE_CHECKING

from tawt.errors import ConfigError, TawtError
from tawt.studies.data_sections import EncoderConfig, GrammarData, TextData, TextTask
from tawt.text.encoding import load_tokenizer, longest_input
from tawt.text.grammar import generate
from tawt.text.kinds import MAKERS, Cutting, Wanted
from tawt.text.reading import ReadOptions, SplitFiles, Splits, TaggedSentence, load
from tawt.text.reading.report import ReadReport
from tawt.training.streams import derived_seed, stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.studies.config import RunConfig
    from tawt.tasks import Task
    from tawt.text.reading import Example

_log = logging.getLogger(__name__)
_HELD_OUT = {"dev": 100, "test": 400}  # sentences of the generated corpus


def tasks(config: RunConfig, names: Sequence[str]) -> list[Task]:
    """The tasks of these names. Only targets keep their held-out examples."""
    cutting = cutting_of(config)
    return [_task(config, name, cutting) for name in names]


def cutting_of(config: RunConfig) -> Cutting:
    """How texts become pieces."""
    settings = config.model
    assert isinstance(settings, EncoderConfig)
    tokenizer = load_tokenizer(settings.encoder)
    longest = longest_input(settings.encoder)
    if longest is not None and settings.max_length > longest:
        raise ConfigError(
            f"`model.max_length` is {settings.max_length}, but {settings.encoder} takes at most "
            f"{longest} pieces."
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
    try:
        files = SplitFiles(
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
        return load(
            files,
            kind=settings.kind,
            options=read_options(settings),
            invalid=settings.invalid,
            seed=config.seed,
        )
    except TawtError as error:
        raise type(error)(f"Task {name!r}: {error}") from error


def read_options(settings: TextTask) -> ReadOptions:
    """How a task's files are read."""
    return ReadOptions(
        format=settings.format,
        separator=settings.separator,
        quote=settings.quote,
        word_column=settings.word_column,
        tag_column=settings.tag_column,
        tag=settings.tag,
        layer=settings.layer,
        fields=settings.fields,
        encoding=settings.encoding,
    )


def _task(config: RunConfig, name: str, cutting: Cutting) -> Task:
    is_target = name in config.targets
    splits = splits_of(config, name, held_out=is_target)
    _tell(name, splits.report)
    if not is_target:
        splits = Splits(splits.train, None, None, splits.report)
    if isinstance(config.data, GrammarData):
        return MAKERS["tagging"](name, splits, cutting, Wanted())
    assert isinstance(config.data, TextData)
    settings = config.data.tasks[name]
    wanted = Wanted(labels=settings.labels, metric=settings.metric, positive=settings.positive)
    made = MAKERS[settings.kind](name, splits, cutting, wanted)
    _tell_more(made)
    return made


def _tell(name: str, report: ReadReport) -> None:
    """What a person would want to know before trusting a score."""
    if report.repaired:
        _log.warning("task %r: tags of %d sentences broke IOB2; repaired", name, report.repaired)
    for split, count in report.duplicates.items():
        if count:
            _log.info("task %r: %d examples of %s are in train too", name, count, split)


def _tell_more(task: Task) -> None:
    if unseen := getattr(task.kind, "unseen", ()):
        listed = ", ".join(unseen[:10])
        _log.warning(
            "task %r: labels only in held-out examples, never right: %s", task.name, listed
        )
    for split in ("train", "dev", "test"):
        examples = getattr(task, split)
        if words := getattr(examples, "cut_words", 0):
            rule = "past `max_length`, neither learned nor scored"
            _log.warning("task %r: %d words of %s are %s", task.name, words, split, rule)
        if texts := getattr(examples, "cut_texts", 0):
            rule = "longer than `max_length`; their ends are not read"
            _log.warning("task %r: %d texts of %s are %s", task.name, texts, split, rule)


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
