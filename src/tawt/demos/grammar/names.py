"""Names of people, organisations and places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.demos.grammar import lexicon
from tawt.demos.grammar.words import Word, chunk, entity

if TYPE_CHECKING:
    from tawt.demos.grammar.words import Dice


def person(dice: Dice) -> list[Word]:
    """A person's name as a noun phrase; a title before it is no part of the entity.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.words import Dice
        >>> [(w.text, w.entity) for w in person(Dice(np.random.default_rng(2)))]
        [('Kevin', 'B-PER'), ('Jordan', 'I-PER')]
    """
    last = dice.pick(lexicon.LAST_NAMES)
    form = dice.weighted({"full": 5, "last": 4, "title": 2, "first": 2})
    if form == "title":
        title = Word(dice.pick(lexicon.TITLES), "NNP")
        return chunk([title, *entity(_proper(last), "PER")], "NP")
    first = dice.pick(lexicon.FIRST_NAMES)
    names = {"full": (first, last), "last": (last,), "first": (first,)}[form]
    return chunk(entity(_proper(*names), "PER"), "NP")


def organisation(dice: Dice) -> list[Word]:
    """An organisation's name; "University of X" is one entity in three chunks.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.words import Dice
        >>> " ".join(word.text for word in organisation(Dice(np.random.default_rng(1))))
        'Smith Party'
    """
    form = dice.weighted({"stem": 4, "name": 3, "acronym": 3, "university": 1, "post": 2})
    if form == "acronym":
        return chunk(entity(_proper(dice.pick(lexicon.ACRONYMS)), "ORG"), "NP")
    if form == "university":
        place = dice.pick(lexicon.PLACES)
        whole = entity([*_proper("University"), Word("of", "IN"), *_proper(place)], "ORG")
        return [*chunk(whole[:1], "NP"), *chunk(whole[1:2], "PP"), *chunk(whole[2:], "NP")]
    head = dice.pick(lexicon.ORG_HEADS)
    stems = {"stem": lexicon.ORG_STEMS, "name": lexicon.LAST_NAMES, "post": lexicon.PLACES}[form]
    named = entity(_proper(dice.pick(stems), head), "ORG")
    return chunk([Word("the", "DT"), *named] if form == "post" else named, "NP")


def place(dice: Dice) -> list[Word]:
    """The name of a place; a town may be followed by its state or country.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.words import Dice
        >>> [(w.text, w.entity) for w in place(Dice(np.random.default_rng(6)))]
        [('Lincoln', 'B-LOC')]
    """
    form = dice.weighted({"one": 8, "long": 2, "feature": 1.5, "within": 1})
    name = dice.pick(lexicon.PLACES)
    if form == "long":
        return chunk(entity(_proper(*dice.pick(lexicon.LONG_PLACES)), "LOC"), "NP")
    if form == "feature":
        head, stem = dice.pick(lexicon.PLACE_HEADS), dice.pick(lexicon.LAST_NAMES)
        return chunk(entity(_proper(head, stem), "LOC"), "NP")
    inner = chunk(entity(_proper(name), "LOC"), "NP")
    if form == "one":
        return inner
    outer = chunk(entity(_proper(dice.pick(lexicon.PLACES)), "LOC"), "NP")
    return [*inner, Word(",", ","), *outer]


def _proper(*names: str) -> list[Word]:
    return [Word(name, "NNP") for name in names]
