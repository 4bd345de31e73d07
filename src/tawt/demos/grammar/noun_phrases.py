"""Noun phrases, and the prepositional phrases within and after them.

Chunks are those of CoNLL-2000: a preposition is its own PP, the phrase after it an NP, and a
possessive 's begins the NP of what is possessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from tawt.demos.grammar import lexicon, names
from tawt.demos.grammar.inflection import article, plural
from tawt.demos.grammar.words import Word, chunk

if TYPE_CHECKING:
    from tawt.demos.grammar.inflection import Agreement
    from tawt.demos.grammar.lexicon import Words
    from tawt.demos.grammar.styles import Setting

Kind = Literal["person", "group", "place", "thing"]
Role = Literal["subject", "object"]

_PRONOUNS: dict[Role, tuple[str, ...]] = {
    "subject": ("he", "I", "they", "she", "we", "you"),
    "object": ("him", "me", "them", "her", "us", "you"),
}
_SINGULAR = {"he", "him", "she", "her"}
_NAMES = {"person": names.person, "group": names.organisation, "place": names.place}
_POSSESSIVES = ("his", "their", "my", "her", "its", "our", "your")


class NounPhrase(NamedTuple):
    """Words, and what a verb must agree with.

    Example:
        >>> NounPhrase([Word("we", "PRP", "B-NP")], "plural").agreement
        'plural'
    """

    words: list[Word]
    agreement: Agreement


def noun_phrase(setting: Setting, kind: Kind, *, role: Role = "object") -> NounPhrase:
    """A pronoun, a name, a description, or two of them joined by "and".

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.styles import STYLES, Setting
        >>> from tawt.demos.grammar.words import Dice
        >>> setting = Setting(Dice(np.random.default_rng(4)), STYLES["news"], nesting=1)
        >>> " ".join(word.text for word in noun_phrase(setting, "thing").words)
        "Cook 's attacks"
    """
    dice = setting.dice
    if dice.chance(setting.style.pronouns * {"person": 1.0, "thing": 0.4}.get(kind, 0.0)):
        return _pronoun(setting, kind, role)
    if setting.may_nest(0.07):
        first = noun_phrase(setting.inner(), kind, role=role)
        second = noun_phrase(setting.inner(), kind, role=role)
        return NounPhrase([*first.words, Word("and", "CC"), *second.words], "plural")
    if kind in _NAMES and dice.chance(setting.style.names):
        return NounPhrase(_NAMES[kind](dice), "singular")
    return description(setting, kind)


def description(setting: Setting, kind: Kind) -> NounPhrase:
    """A common noun with what comes before it, and perhaps a prepositional phrase after it.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.styles import STYLES, Setting
        >>> from tawt.demos.grammar.words import Dice
        >>> setting = Setting(Dice(np.random.default_rng(1)), STYLES["news"], nesting=1)
        >>> " ".join(word.text for word in description(setting, "person").words)
        'a guide'
    """
    dice, style = setting.dice, setting.style
    nouns: dict[Kind, Words] = {
        "person": style.persons,
        "group": lexicon.GROUP_NOUNS,
        "place": lexicon.PLACE_NOUNS,
        "thing": style.things,
    }
    form = dice.weighted(
        {"the": 5, "a": 3, "bare": 2, "number": 1, "this": 0.7, "own": 1.2, "owner": 0.9}
    )
    many = form in {"bare", "number"} or (form != "a" and dice.chance(0.3))
    noun = dice.pick(nouns[kind])
    head = Word(plural(noun), "NNS") if many else Word(noun, "NN")
    words = [*_modifiers(setting), head]
    before: list[Word] = []
    if form == "owner":
        owner = dice.weighted({"person": 3, "group": 2, "place": 2})
        before = _NAMES[owner](dice)
        words.insert(0, Word("'s", "POS"))
    elif form != "bare":
        words.insert(0, _determiner(setting, form, many=many, following=words[0].text))
    after: list[Word] = []
    if setting.may_nest(0.2):
        after = _attribute(setting, kind)
    return NounPhrase([*before, *chunk(words, "NP"), *after], "plural" if many else "singular")


def prepositional(setting: Setting, preposition: str, kind: Kind) -> list[Word]:
    """A preposition with its noun phrase.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.styles import STYLES, Setting
        >>> from tawt.demos.grammar.words import Dice
        >>> setting = Setting(Dice(np.random.default_rng(4)), STYLES["news"], nesting=0)
        >>> [(w.text, w.chunk) for w in prepositional(setting, "in", "place")][:1]
        [('in', 'B-PP')]
    """
    head = Word(preposition, "TO" if preposition == "to" else "IN")
    return [*chunk([head], "PP"), *noun_phrase(setting.inner(), kind).words]


def _pronoun(setting: Setting, kind: Kind, role: Role) -> NounPhrase:
    if kind == "thing":
        text = setting.dice.weighted({"it": 4, "that": 1})
        return NounPhrase(chunk([Word(text, "PRP" if text == "it" else "DT")], "NP"), "singular")
    text = setting.dice.pick(_PRONOUNS[role])
    agreement: Agreement = "singular" if text in _SINGULAR else "plural"
    return NounPhrase(chunk([Word(text, "PRP")], "NP"), "I" if text == "I" else agreement)


def _modifiers(setting: Setting) -> list[Word]:
    dice = setting.dice
    adjectives = dice.weighted({0: 6, 1: 3.5, 2: 0.5})
    words = [Word(dice.pick(setting.style.adjectives), "JJ") for _ in range(adjectives)]
    if dice.chance(0.15):
        words.append(Word(dice.pick(lexicon.PLACE_NOUNS + setting.style.things), "NN"))
    return words


def _determiner(setting: Setting, form: str, *, many: bool, following: str) -> Word:
    match form:
        case "a":
            return Word(article(following), "DT")
        case "number":
            number = setting.dice.pick(lexicon.NUMBERS)
            return Word(number, "JJ" if number == "several" else "CD")
        case "this":
            return Word(setting.dice.pick(("these", "those") if many else ("this", "that")), "DT")
        case "own":
            return Word(setting.dice.pick(_POSSESSIVES), "PRP$")
        case _:
            return Word("the", "DT")


def _attribute(setting: Setting, kind: Kind) -> list[Word]:
    if kind == "thing":
        of: Kind = setting.dice.weighted({"thing": 3, "place": 2, "group": 2, "person": 1})
        return prepositional(setting, setting.dice.pick(lexicon.THING_PREPOSITIONS), of)
    where: Kind = setting.dice.weighted({"place": 4, "group": 2})
    return prepositional(setting, setting.dice.pick(("in", "from", "of", "near")), where)
