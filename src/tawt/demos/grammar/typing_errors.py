"""How people type: no capitals, slang, slips of the finger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.demos.grammar import lexicon
from tawt.demos.grammar.words import Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.demos.grammar.words import Dice


def typed(words: Sequence[Word], dice: Dice) -> list[Word]:
    """A sentence as it is typed; the tags stay, with an interjection they gain one.

    Example:
        >>> import numpy as np
        >>> from tawt.demos.grammar.words import Dice
        >>> words = [Word("You", "PRP"), Word("are", "VBP"), Word("late", "JJ"), Word(".", ".")]
        >>> " ".join(word.text for word in typed(words, Dice(np.random.default_rng(1))))
        'you are late .'
    """
    small, slangy = dice.chance(0.65), dice.chance(0.4)
    written = []
    for word in _ended(words, dice):
        text = word.text.lower() if small else word.text
        if slangy and text in lexicon.SLANG and dice.chance(0.5):
            text = lexicon.SLANG[text]
        elif len(text) >= 4 and dice.chance(0.04):
            text = _slip(text, dice)
        written.append(word._replace(text=text))
    if dice.chance(0.12):
        written.insert(0, Word(dice.pick(lexicon.INTERJECTIONS), "UH", "B-INTJ"))
    return written


def _ended(words: Sequence[Word], dice: Dice) -> Sequence[Word]:
    mark = dice.weighted({"kept": 4, "none": 4, "loud": 2})
    if mark == "none":
        return words[:-1]
    return words if mark == "kept" else [*words[:-1], words[-1]._replace(text="!!")]


def _slip(text: str, dice: Dice) -> str:
    place = dice.weighted(dict.fromkeys(range(1, len(text) - 1), 1))
    match dice.weighted({"drop": 1, "double": 1, "swap": 1}):
        case "drop":
            return text[:place] + text[place + 1 :]
        case "double":
            return text[:place] + text[place] + text[place:]
        case _:
            return text[:place] + text[place + 1] + text[place] + text[place + 2 :]
