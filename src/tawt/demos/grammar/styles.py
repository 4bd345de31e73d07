"""The two registers: what newspapers write about, and what people type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from tawt.demos.grammar import lexicon

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.demos.grammar.lexicon import Words
    from tawt.demos.grammar.words import Dice

Register = Literal["news", "web"]


@dataclass(frozen=True, slots=True)
class Style:
    """How often a register does what, and with which words.

    Example:
        >>> STYLES["web"].pronouns > STYLES["news"].pronouns
        True
    """

    pronouns: float
    """Share of pronouns among people and things talked about."""
    names: float
    """Share of names among the other noun phrases that can be names."""
    nesting: int
    """How deep clauses and phrases go into each other."""
    sentences: Mapping[str, float]
    """Weights of the kinds of sentence."""
    persons: Words
    things: Words
    adjectives: Words
    states: Words
    transitive: Words


STYLES: Final[Mapping[Register, Style]] = {
    "news": Style(
        pronouns=0.12,
        names=0.5,
        nesting=2,
        sentences={
            "statement": 8, "fronted": 3, "attribution": 3, "subordinate": 2, "coordination": 2,
            "existential": 1, "question": 0.7, "wh_question": 0.5,
        },
        persons=lexicon.PERSON_NOUNS,
        things=lexicon.THING_NOUNS,
        adjectives=lexicon.ADJECTIVES,
        states=lexicon.STATES,
        transitive=lexicon.TRANSITIVE,
    ),
    "web": Style(
        pronouns=0.5,
        names=0.4,
        nesting=1,
        sentences={
            "statement": 6, "fronted": 0.5, "subordinate": 1, "coordination": 1.5,
            "existential": 0.5, "question": 2, "wh_question": 2, "imperative": 2,
        },
        persons=lexicon.WEB_PERSON_NOUNS,
        things=lexicon.WEB_THING_NOUNS,
        adjectives=lexicon.WEB_ADJECTIVES,
        states=lexicon.WEB_STATES,
        transitive=lexicon.WEB_TRANSITIVE,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setting:
    """What every phrase is made in: the dice, the style, and the nesting still allowed.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.words import Dice
        >>> setting = Setting(Dice(np.random.default_rng(0)), STYLES["news"], nesting=2)
        >>> setting.inner().nesting
        1
    """

    dice: Dice
    style: Style
    nesting: int

    def inner(self) -> Setting:
        """The setting of a phrase within a phrase."""
        return replace(self, nesting=self.nesting - 1)

    def may_nest(self, probability: float) -> bool:
        """Whether to put a phrase inside this one."""
        return self.nesting > 0 and self.dice.chance(probability)
