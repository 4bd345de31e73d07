"""Verbs with their auxiliaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tawt.demos.grammar import lexicon
from tawt.demos.grammar.inflection import inflect
from tawt.demos.grammar.words import Word, chunk

if TYPE_CHECKING:
    from tawt.demos.grammar.inflection import Agreement, Form
    from tawt.demos.grammar.words import Dice

Mood = Literal["statement", "question"]

_TAKES_NT = frozenset(
    ("do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "would", "could")
)


def verb_group(
    dice: Dice, verb: str, agreement: Agreement, *, passive: bool = False, mood: Mood = "statement"
) -> list[Word]:
    """The verb with its modal, perfect, progressive and passive auxiliaries, not yet a chunk.

    Each auxiliary asks a form of the next verb: "may | have (base) | been (participle) | visited
    (participle)". The main verb is the predicate. "Be" never is: it is an auxiliary before
    adjectives, too, as in Universal Dependencies.

    Args:
        dice: Choose tense, auxiliaries, negation and adverb.
        verb: The main verb's base form.
        agreement: Of the subject.
        passive: Whether the subject is what the verb is done to.
        mood: A question begins with a verb that can stand before the subject.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.words import Dice
        >>> group = verb_group(Dice(np.random.default_rng(8)), "visit", "plural", passive=True)
        >>> [(word.text, word.predicate) for word in group]
        [('are', 'O'), ('visited', 'B-V')]
    """
    helpers = _helpers(dice, passive=passive, is_be=verb == "be")
    negated = mood == "statement" and dice.chance(0.08)
    if (negated or mood == "question") and not helpers and verb != "be":
        helpers.append(("do", "base"))
    form: Form = "past" if dice.chance(0.6) else "present"
    words: list[Word] = []
    for helper, next_form in helpers:
        modal = helper in lexicon.MODALS
        words.append(Word(helper, "MD") if modal else Word(*inflect(helper, form, agreement)))
        form = next_form
    words.append(Word(*inflect(verb, form, agreement), predicate="O" if verb == "be" else "B-V"))
    if negated:
        words.insert(1, _negation(dice, after=words[0].text))
    elif mood == "statement" and dice.chance(0.1):
        place = 1 if helpers or verb == "be" else 0
        words.insert(place, Word(dice.pick(lexicon.MID_ADVERBS), "RB"))
    return words


def verb_chunk(words: list[Word]) -> list[Word]:
    """A verb group as a VP; an adverb before it is an ADVP, one within it belongs to the VP.

    Example:
        >>> [w.chunk for w in verb_chunk([Word("often", "RB"), Word("won", "VBD")])]
        ['B-ADVP', 'B-VP']
    """
    if words and words[0].pos == "RB":
        return [*chunk(words[:1], "ADVP"), *chunk(words[1:], "VP")]
    return chunk(words, "VP")


def _helpers(dice: Dice, *, passive: bool, is_be: bool) -> list[tuple[str, Form]]:
    helpers: list[tuple[str, Form]] = []
    if dice.chance(0.14):
        helpers.append((dice.pick(lexicon.MODALS), "base"))
    if dice.chance(0.12):
        helpers.append(("have", "participle"))
    if passive:
        helpers.append(("be", "participle"))
    elif not is_be and dice.chance(0.08):
        helpers.append(("be", "gerund"))
    return helpers


def _negation(dice: Dice, *, after: str) -> Word:
    return Word("n't" if after in _TAKES_NT and dice.chance(0.6) else "not", "RB")
