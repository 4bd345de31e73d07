"""Where, when and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.demos.grammar import lexicon
from tawt.demos.grammar.noun_phrases import prepositional
from tawt.demos.grammar.words import Word, chunk

if TYPE_CHECKING:
    from tawt.demos.grammar.styles import Setting


def adjuncts(setting: Setting) -> list[Word]:
    """Where, when or how; mostly nothing.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.styles import STYLES, Setting
        >>> from tawt.demos.grammar.words import Dice
        >>> setting = Setting(Dice(np.random.default_rng(5)), STYLES["news"], nesting=0)
        >>> " ".join(word.text for word in adjuncts(setting))
        'today'
    """
    dice = setting.dice
    match dice.weighted(
        {"none": 9, "place": 2.5, "time": 2, "day": 1.5, "adverb": 1.5, "event": 1}
    ):
        case "place":
            return prepositional(setting, dice.pick(lexicon.PLACE_PREPOSITIONS), "place")
        case "time":
            which = dice.pick(("last", "next", "this"))
            when = Word(which, "DT" if which == "this" else "JJ")
            return chunk([when, Word(dice.pick(lexicon.TIME_NOUNS), "NN")], "NP")
        case "day":
            return date(setting)
        case "adverb":
            return chunk([Word(dice.pick(lexicon.END_ADVERBS), "RB")], "ADVP")
        case "event":
            return prepositional(setting, dice.pick(lexicon.TIME_PREPOSITIONS), "thing")
        case _:
            return []


def date(setting: Setting) -> list[Word]:
    """A day or a month.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.styles import STYLES, Setting
        >>> from tawt.demos.grammar.words import Dice
        >>> setting = Setting(Dice(np.random.default_rng(5)), STYLES["news"], nesting=0)
        >>> " ".join(word.text for word in date(setting))
        'tomorrow'
    """
    dice = setting.dice
    form = dice.weighted({"on": 2, "in": 1, "word": 1})
    if form == "word":
        return chunk([Word(dice.pick(lexicon.DAY_WORDS), "NN")], "NP")
    name = dice.pick(lexicon.DAYS if form == "on" else lexicon.MONTHS)
    return [Word(form, "IN", "B-PP"), Word(name, "NNP", "B-NP")]
