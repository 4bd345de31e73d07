"""Whole sentences: statements, reports, questions, commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.demos.grammar import lexicon
from tawt.demos.grammar.adjuncts import adjuncts, date
from tawt.demos.grammar.clauses import clause, frame, subject, verb_phrase
from tawt.demos.grammar.inflection import inflect
from tawt.demos.grammar.noun_phrases import description, noun_phrase, prepositional
from tawt.demos.grammar.verb_groups import verb_chunk, verb_group
from tawt.demos.grammar.words import Word, chunk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tawt.demos.grammar.noun_phrases import Kind
    from tawt.demos.grammar.styles import Setting

_COMMA, _STOP, _ASKED = Word(",", ","), Word(".", "."), Word("?", ".")


def sentence(setting: Setting) -> list[Word]:
    """A sentence with a capital at its beginning and a mark at its end.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.styles import STYLES, Setting
        >>> from tawt.demos.grammar.words import Dice
        >>> words = sentence(Setting(Dice(np.random.default_rng(3)), STYLES["news"], nesting=1))
        >>> " ".join(word.text for word in words)
        'Ford was deciding to reject a broken call quietly .'
    """
    first, *rest = _KINDS[setting.dice.weighted(setting.style.sentences)](setting)
    return [first._replace(text=first.text[0].upper() + first.text[1:]), *rest]


def _statement(setting: Setting) -> list[Word]:
    return [*clause(setting), _STOP]


def _fronted(setting: Setting) -> list[Word]:
    dice = setting.dice
    match dice.weighted({"adverb": 2, "place": 2, "date": 2}):
        case "adverb":
            front = chunk([Word(dice.pick(lexicon.FRONT_ADVERBS), "RB")], "ADVP")
        case "place":
            front = prepositional(setting, dice.pick(("in", "near", "outside")), "place")
        case _:
            front = date(setting)
    comma = [_COMMA] if dice.chance(0.8) else []
    return [*front, *comma, *clause(setting), _STOP]


def _attribution(setting: Setting) -> list[Word]:
    dice = setting.dice
    kind: Kind = "person" if dice.chance(0.7) else "group"
    speaker = noun_phrase(setting.inner(), kind, role="subject")
    said = Word(*inflect(dice.pick(lexicon.SPEECH), "past"), "B-VP", "B-V")
    when = date(setting) if dice.chance(0.3) else []
    return [*clause(setting.inner()), _COMMA, *speaker.words, said, *when, _STOP]


def _subordinate(setting: Setting) -> list[Word]:
    link = Word(setting.dice.pick(lexicon.CONJUNCTIONS), "IN", "B-SBAR")
    main, side = clause(setting.inner()), clause(setting.inner())
    if setting.dice.chance(0.3):
        return [link, *side, _COMMA, *main, _STOP]
    return [*main, link, *side, _STOP]


def _coordination(setting: Setting) -> list[Word]:
    link = Word(setting.dice.weighted({"and": 3, "but": 2}), "CC")
    if setting.dice.chance(0.5):
        phrase, kind = subject(setting.inner())
        first = verb_phrase(setting.inner(), phrase.agreement, kind)
        second = verb_phrase(setting.inner(), phrase.agreement, kind)
        return [*phrase.words, *first, link, *second, _STOP]
    return [*clause(setting.inner()), _COMMA, link, *clause(setting.inner()), _STOP]


def _existential(setting: Setting) -> list[Word]:
    phrase = description(setting, setting.dice.weighted({"thing": 3, "person": 2, "place": 1}))
    be = Word(*inflect("be", "past" if setting.dice.chance(0.6) else "present", phrase.agreement))
    there = Word("there", "EX", "B-NP")
    return [there, *chunk([be], "VP"), *phrase.words, *adjuncts(setting), _STOP]


def _question(setting: Setting) -> list[Word]:
    phrase, kind = subject(setting.inner())
    done = frame(setting.inner(), kind)
    first, *rest = verb_group(
        setting.dice, done.verb, phrase.agreement, passive=done.passive, mood="question"
    )
    # A chunk does not go on across the subject.
    return [*chunk([first], "VP"), *phrase.words, *verb_chunk(rest), *done.complement, _ASKED]


def _wh_question(setting: Setting) -> list[Word]:
    dice = setting.dice
    if dice.chance(0.3):
        did = verb_phrase(setting.inner(), "singular", "person")
        return [Word("who", "WP", "B-NP"), *did, _ASKED]
    if dice.chance(0.4):
        kind: Kind = "person" if dice.chance(0.7) else "group"
        doer = noun_phrase(setting.inner(), kind, role="subject")
        verb = dice.pick(setting.style.transitive)
        first, *rest = verb_group(dice, verb, doer.agreement, mood="question")
        what = Word("what", "WP", "B-NP")
        return [what, *chunk([first], "VP"), *doer.words, *verb_chunk(rest), _ASKED]
    adverb = Word(dice.pick(("why", "when", "where", "how")), "WRB", "B-ADVP")
    return [adverb, *_question(setting)]


def _imperative(setting: Setting) -> list[Word]:
    dice = setting.dice
    please = [Word("please", "UH", "B-INTJ")] if dice.chance(0.2) else []
    do_not = [Word("do", "VB"), Word("n't", "RB")] if dice.chance(0.2) else []
    verb = Word(dice.pick(setting.style.transitive), "VB", predicate="B-V")
    what = noun_phrase(setting, "thing").words
    return [*please, *chunk([*do_not, verb], "VP"), *what, *adjuncts(setting), _STOP]


_KINDS: dict[str, Callable[[Setting], list[Word]]] = {
    "statement": _statement,
    "fronted": _fronted,
    "attribution": _attribution,
    "subordinate": _subordinate,
    "coordination": _coordination,
    "existential": _existential,
    "question": _question,
    "wh_question": _wh_question,
    "imperative": _imperative,
}
