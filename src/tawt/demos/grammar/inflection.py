"""The forms of English words, by rule where there is one."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from tawt.demos.grammar.lexicon import IRREGULAR

Agreement = Literal["I", "singular", "plural"]
Form = Literal["base", "present", "past", "participle", "gerund"]

_PAST = {base: (past, participle) for base, past, participle in map(str.split, IRREGULAR)}
_BE = {
    ("present", "I"): ("am", "VBP"),
    ("present", "singular"): ("is", "VBZ"),
    ("present", "plural"): ("are", "VBP"),
    ("past", "I"): ("was", "VBD"),
    ("past", "singular"): ("was", "VBD"),
    ("past", "plural"): ("were", "VBD"),
}
_HISSES = re.compile(r".*(s|x|z|sh|ch|o)")
_CONSONANT_Y = re.compile(r".*[^aeiou]y")
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")  # one syllable: its last letter doubles


@cache
def plural(noun: str) -> str:
    """The plural of a noun; the third person of a verb is made alike.

    Example:
        >>> [plural(word) for word in ("plan", "study", "church", "boy")]
        ['plans', 'studies', 'churches', 'boys']
    """
    if _CONSONANT_Y.fullmatch(noun):
        return noun[:-1] + "ies"
    return noun + ("es" if _HISSES.fullmatch(noun) else "s")


@cache
def inflect(verb: str, form: Form, agreement: Agreement = "singular") -> tuple[str, str]:
    """A form of a verb, with its Penn tag.

    Example:
        >>> [inflect("plan", form)[0] for form in ("base", "present", "past", "gerund")]
        ['plan', 'plans', 'planned', 'planning']
        >>> inflect("know", "participle"), inflect("be", "past", "plural")
        (('known', 'VBN'), ('were', 'VBD'))
    """
    if form == "base":
        return verb, "VB"
    if form == "gerund":
        return _stem(verb, keep="be see agree") + "ing", "VBG"
    if verb == "be":
        return ("been", "VBN") if form == "participle" else _BE[form, agreement]
    if form == "present":
        if agreement != "singular":
            return verb, "VBP"
        return "has" if verb == "have" else plural(verb), "VBZ"
    past, participle = _PAST.get(verb, 2 * (_stem(_consonant_i(verb)) + "ed",))
    return (past, "VBD") if form == "past" else (participle, "VBN")


def article(word: str) -> str:
    """The indefinite article before a word.

    Example:
        >>> article("old"), article("university"), article("plan")
        ('an', 'a', 'a')
    """
    return "an" if word[0].lower() in "aeiou" and not word.lower().startswith("uni") else "a"


def _consonant_i(verb: str) -> str:
    return verb[:-1] + "i" if _CONSONANT_Y.fullmatch(verb) else verb


def _stem(verb: str, keep: str = "") -> str:
    if verb.endswith("e") and verb not in keep.split():
        return verb[:-1]
    return verb + verb[-1] if _SHORT.fullmatch(verb) else verb
