"""Clauses: who does what, where and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tawt.demos.grammar import lexicon
from tawt.demos.grammar.adjuncts import adjuncts
from tawt.demos.grammar.inflection import inflect
from tawt.demos.grammar.noun_phrases import description, noun_phrase, prepositional
from tawt.demos.grammar.verb_groups import verb_chunk, verb_group
from tawt.demos.grammar.words import Word, chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tawt.demos.grammar.inflection import Agreement
    from tawt.demos.grammar.noun_phrases import Kind, NounPhrase
    from tawt.demos.grammar.styles import Setting

_SUBJECTS: dict[Kind, float] = {"person": 5, "group": 3, "thing": 2.5, "place": 0.4}


class VerbFrame(NamedTuple):
    """A verb and what comes after it.

    Example:
        >>> VerbFrame("resign").passive
        False
    """

    verb: str
    complement: Sequence[Word] = ()
    passive: bool = False


def frame(setting: Setting, kind: Kind) -> VerbFrame:
    """Something that this kind of subject can do.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.styles import STYLES, Setting
        >>> from tawt.demos.grammar.words import Dice
        >>> frame(Setting(Dice(np.random.default_rng(3)), STYLES["news"], nesting=0), "thing").verb
        'build'
    """
    return _MAKERS[setting.dice.weighted(_FRAMES[kind])](setting, kind)


def subject(setting: Setting) -> tuple[NounPhrase, Kind]:
    """A subject, perhaps with a relative clause, and what kind of thing it is.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.styles import STYLES, Setting
        >>> from tawt.demos.grammar.words import Dice
        >>> phrase, kind = subject(Setting(Dice(np.random.default_rng(5)), STYLES["web"], 1))
        >>> " ".join(word.text for word in phrase.words), kind, phrase.agreement
        ('the city posts', 'thing', 'plural')
    """
    kind = setting.dice.weighted(_SUBJECTS)
    phrase = noun_phrase(setting, kind, role="subject")
    return phrase._replace(words=_with_relative(setting, phrase, kind)), kind


def clause(setting: Setting) -> list[Word]:
    """A subject with its verb phrase.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.styles import STYLES, Setting
        >>> from tawt.demos.grammar.words import Dice
        >>> words = clause(Setting(Dice(np.random.default_rng(1)), STYLES["news"], nesting=0))
        >>> " ".join(word.text for word in words)
        'the Berlin Group turned down a foreign plan'
    """
    phrase, kind = subject(setting)
    return [*phrase.words, *verb_phrase(setting, phrase.agreement, kind)]


def verb_phrase(setting: Setting, agreement: Agreement, kind: Kind) -> list[Word]:
    """What such a subject does.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.styles import STYLES, Setting
        >>> from tawt.demos.grammar.words import Dice
        >>> setting = Setting(Dice(np.random.default_rng(5)), STYLES["news"], nesting=0)
        >>> words = verb_phrase(setting, "plural", "person")
        >>> " ".join(word.text for word in words)
        'could not be a great teacher near his park'
    """
    done = frame(setting, kind)
    group = verb_group(setting.dice, done.verb, agreement, passive=done.passive)
    return [*verb_chunk(group), *done.complement, *adjuncts(setting)]


def _transitive(setting: Setting, _: Kind) -> VerbFrame:
    return VerbFrame(setting.dice.pick(setting.style.transitive), _object(setting, "thing"))


def _personal(setting: Setting, _: Kind) -> VerbFrame:
    return VerbFrame(setting.dice.pick(lexicon.PERSONAL), _object(setting, "person"))


def _possession(setting: Setting, _: Kind) -> VerbFrame:
    return VerbFrame("have", noun_phrase(setting, "thing").words)


def _motion(setting: Setting, _: Kind) -> VerbFrame:
    return VerbFrame(setting.dice.pick(lexicon.MOTION), prepositional(setting, "to", "place"))


def _particle(setting: Setting, _: Kind) -> VerbFrame:
    verb, particle = setting.dice.pick(lexicon.PARTICLES)
    return VerbFrame(verb, [Word(particle, "RP", "B-PRT"), *description(setting, "thing").words])


def _intransitive(setting: Setting, _: Kind) -> VerbFrame:
    return VerbFrame(setting.dice.pick(lexicon.INTRANSITIVE))


def _speech(setting: Setting, kind: Kind) -> VerbFrame:
    if setting.nesting <= 0:
        return _intransitive(setting, kind)
    that = [Word("that", "IN", "B-SBAR")] if setting.dice.chance(0.6) else []
    return VerbFrame(setting.dice.pick(lexicon.SPEECH), [*that, *clause(setting.inner())])


def _object(setting: Setting, kind: Kind) -> list[Word]:
    phrase = noun_phrase(setting, kind)
    return _with_relative(setting, phrase, kind)


def _copular(setting: Setting, kind: Kind) -> VerbFrame:
    dice = setting.dice
    form = dice.weighted({"state": 5, "noun": 2 if kind == "person" else 0, "where": 1.5})
    if form == "noun":
        return VerbFrame("be", chunk([Word("a", "DT"), *_plain_person(setting)], "NP"))
    if form == "where":
        return VerbFrame("be", prepositional(setting, dice.pick(("in", "at", "near")), "place"))
    degree = [Word(dice.pick(lexicon.DEGREES), "RB")] if dice.chance(0.3) else []
    state = chunk([*degree, Word(dice.pick(setting.style.states), "JJ")], "ADJP")
    return VerbFrame("be" if dice.chance(0.65) else dice.pick(lexicon.LINKING), state)


def _plain_person(setting: Setting) -> list[Word]:
    good = setting.dice.pick(("good", "new", "great", "former", "famous"))
    return [Word(good, "JJ"), Word(setting.dice.pick(setting.style.persons), "NN")]


def _passive(setting: Setting, kind: Kind) -> VerbFrame:
    dice = setting.dice
    verbs = setting.style.transitive if kind in {"thing", "place"} else lexicon.PERSONAL
    agent: list[Word] = []
    if dice.chance(0.4):
        agent = prepositional(setting, "by", "person" if dice.chance(0.5) else "group")
    return VerbFrame(dice.pick(verbs), agent, passive=True)


def _control(setting: Setting, kind: Kind) -> VerbFrame:
    inner = frame(setting.inner(), kind)
    if inner.passive:
        to = [Word("be", "VB"), Word(*inflect(inner.verb, "participle"), predicate="B-V")]
    else:
        to = [Word(inner.verb, "VB", predicate="O" if inner.verb == "be" else "B-V")]
    # One VP with the verb before it, as in CoNLL-2000: "wants to visit".
    infinitive = [word._replace(chunk="I-VP") for word in [Word("to", "TO"), *to]]
    return VerbFrame(setting.dice.pick(lexicon.CONTROL), [*infinitive, *inner.complement])


def _with_relative(setting: Setting, phrase: NounPhrase, kind: Kind) -> list[Word]:
    if phrase.words[-1].pos not in {"NN", "NNS"} or not setting.may_nest(0.15):
        return phrase.words
    dice, inner = setting.dice, setting.inner()
    form = dice.weighted({"subject": 4, "object": 2 if kind == "thing" else 0, "reduced": 1.5})
    if form == "reduced":
        done = _passive(inner, kind)
        participle = Word(*inflect(done.verb, "participle"), "B-VP", "B-V")
        return [*phrase.words, participle, *done.complement]
    if form == "object":
        that = [Word("that", "WDT", "B-NP")] if dice.chance(0.6) else []
        doer = noun_phrase(inner, "person", role="subject")
        group = verb_group(dice, dice.pick(setting.style.transitive), doer.agreement)
        return [*phrase.words, *that, *doer.words, *verb_chunk(group)]
    pronoun = Word(dice.pick(("that", "which")), "WDT", "B-NP")
    if kind == "person" and dice.chance(0.8):
        pronoun = Word("who", "WP", "B-NP")
    return [*phrase.words, pronoun, *verb_phrase(inner, phrase.agreement, kind)]


_MAKERS: dict[str, Callable[[Setting, Kind], VerbFrame]] = {
    "transitive": _transitive,
    "personal": _personal,
    "possession": _possession,
    "motion": _motion,
    "particle": _particle,
    "intransitive": _intransitive,
    "speech": _speech,
    "copular": _copular,
    "passive": _passive,
    "control": _control,
}
# How often each kind of subject does what. A thing or a place acts little: much is done to it.
_FRAMES: dict[Kind, dict[str, float]] = {
    "person": {
        "transitive": 5, "personal": 3, "motion": 2, "intransitive": 2, "speech": 1.5,
        "control": 1.5, "particle": 1, "copular": 2, "passive": 1, "possession": 1,
    },
    "group": {
        "transitive": 6, "personal": 1.5, "intransitive": 1, "speech": 1, "control": 1.5,
        "particle": 1.5, "copular": 0.7, "passive": 0.5, "possession": 1,
    },
    "thing": {"passive": 4, "copular": 3, "intransitive": 0.5},
    "place": {"passive": 1, "copular": 1},
}  # fmt: skip
