"""Sentences with four gold annotations, as many as are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.demos.grammar.sentences import sentence
from tawt.demos.grammar.styles import STYLES, Setting
from tawt.demos.grammar.typing_errors import typed
from tawt.demos.grammar.words import Dice
from tawt.errors import DataError, suggestion
from tawt.streams import stream

if TYPE_CHECKING:
    from tawt.demos.grammar.styles import Register


@dataclass(frozen=True, slots=True)
class Annotated:
    """A sentence: its words, and four tags for each word.

    Example:
        >>> Annotated(("Go",), ("VB",), ("B-VP",), ("B-V",), ("O",)).words
        ('Go',)
    """

    words: tuple[str, ...]
    pos: tuple[str, ...]
    """Parts of speech, by the tags of the Penn Treebank."""
    chunks: tuple[str, ...]
    """Phrases as in CoNLL-2000, IOB2."""
    predicates: tuple[str, ...]
    """`B-V` at main verbs, `O` elsewhere; "be" is always an auxiliary."""
    entities: tuple[str, ...]
    """Names of people (PER), organisations (ORG) and places (LOC), IOB2."""


def generate(count: int, *, seed: int, register: Register = "news") -> list[Annotated]:
    """Sentences of a small English-like grammar, the same for the same seed.

    Sentence i depends on the seed, the register and i alone: the first 100 of 2000 are the 100.

    Args:
        count: How many.
        seed: Another seed, other sentences.
        register: "news" is edited text with many names; "web" is typed in haste: pronouns,
            questions, commands, slang, slips, and often no capitals.

    Raises:
        DataError: `count` is negative, or the register unknown.

    Example:
        >>> third = generate(3, seed=0)[2]
        >>> " ".join(third.words)
        'University of Austin visited Novak , Boeing reported on Sunday .'
        >>> third.entities[:6]
        ('B-ORG', 'I-ORG', 'I-ORG', 'O', 'B-PER', 'O')
        >>> [word for word, tag in zip(third.words, third.predicates) if tag == "B-V"]
        ['visited', 'reported']
    """
    if count < 0:
        raise DataError(f"`count` must not be negative; got {count}.")
    if register not in STYLES:
        raise DataError(f"Unknown register {register!r}: {suggestion(register, STYLES)}")
    return [_sentence(number, seed=seed, register=register) for number in range(count)]


def _sentence(number: int, *, seed: int, register: Register) -> Annotated:
    dice, style = Dice(stream(seed, "grammar", register, number)), STYLES[register]
    words = sentence(Setting(dice, style, style.nesting))
    if register == "web":
        words = typed(words, dice)
    return Annotated(*zip(*words, strict=True))
