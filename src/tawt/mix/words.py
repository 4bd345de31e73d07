"""What a search for a mixture came to, in sentences that follow from its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.mix.amounts import short
from tawt.mix.study import BY_SIZE, EQUAL, LEARNED
from tawt.report.words import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.mix.result import Difference, Interval, MixResult

_NAMED = 3  # sources that a sentence names
_HARDLY = 0.005  # of what is drawn
_ALONE = 0.995  # beside which the others are no part of a verdict
_LITTLE = 0.1  # shares below this are summed up, if others are above
_NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def in_words(found: MixResult) -> list[str]:
    """The verdict first, and what else there is to know."""
    sentences = [_verdict(found), *_beside(found), *found.warnings]
    sentences += _at_floor(found) or _hardly_drawn(found)
    sentences += _repeated(found)
    sentences += _left_out(found)
    if len(found.seeds) == 1:
        sentences.append(
            "From one seed there are no intervals, and nothing says that another seed would agree; "
            "give --seeds 3."
        )
    sentences.append(when_again(found))
    return sentences


def mixture_in_words(mixture: Mapping[str, float]) -> str:
    """Shares in percent, the largest first, the small ones summed up; or one source alone.

    Args:
        mixture: Shares that add up to one, by name.

    Example:
        >>> mixture_in_words({"news": 0.55, "web": 0.3, "code": 0.08, "mail": 0.07})
        '55% news, 30% web, 15% two others'
        >>> mixture_in_words({"news": 0.998, "web": 0.002})
        'news alone'
    """
    ranked = sorted(mixture, key=lambda name: -mixture[name])
    if mixture[ranked[0]] > _ALONE:
        return f"{ranked[0]} alone"
    large = [name for name in ranked[:_NAMED] if round(mixture[name], 2) >= _LITTLE]
    named = large or ranked[:_NAMED]
    rest = ranked[len(named) :]
    if len(rest) == 1:  # whose name is as short as saying that it is another one
        named, rest = ranked, []
    shares = [mixture[name] for name in named]
    percent = percentages([*shares, *([sum(mixture[name] for name in rest)] if rest else [])])
    said = [f"{part}% {name}" for part, name in zip(percent, named, strict=False)]
    if rest:
        count = _NUMBERS[len(rest)] if len(rest) < len(_NUMBERS) else len(rest)
        said.append(f"{percent[-1]}% {count} others")
    return ", ".join(said)


def percentages(shares: Sequence[float]) -> list[int]:
    """Whole percents that add up to a hundred, by the largest remainders.

    Args:
        shares: That add up to one.

    Example:
        >>> percentages([1 / 3, 1 / 3, 1 / 3])
        [34, 33, 33]
    """
    whole = [int(100 * share + 1e-9) for share in shares]
    remainders = [100 * share - part for share, part in zip(shares, whole, strict=True)]
    for place in sorted(range(len(shares)), key=lambda k: -remainders[k])[: 100 - sum(whole)]:
        whole[place] += 1
    return whole


def percent_text(share: float) -> str:
    """A small share in percent.

    Example:
        >>> percent_text(0.012), percent_text(0.0004), percent_text(0.00001)
        ('1.2%', '0.04%', 'less than 0.01%')
    """
    if share < 0.0001:
        return "less than 0.01%"
    return f"{100 * share:.2f}%" if share < 0.001 else f"{100 * share:.1f}%"


def when_again(found: MixResult) -> str:
    """When to measure again, or what to do because the weights have not settled."""
    if found.settling.factor is None:
        return (
            "The weights still moved in the last quarter of training: the budget was too small for "
            "settled weights. Give it more, or let them move during training: `tawt train` with "
            "the same configuration and `paradigm: sources only`."
        )
    again = short(found.amount * found.settling.factor)
    return (
        f"The weights stayed put from step {found.settling.step:,} of {found.steps:,}. Measure "
        f"again when the sources change, or when a model has seen {again} {found.unit} "
        f"({found.settling.factor:.2g} times as many as each run here)."
    )


def difference_text(difference: Difference, found: MixResult) -> str:
    """A gain with its interval, in the words of the measure.

    Args:
        difference: Of two rows.
        found: Says what losses are in.
    """
    shown, way = found.measure.shown, _way(found, better=difference.mean >= 0)
    ends = _ends(difference.interval, sign=1 if difference.mean >= 0 else -1)
    within = "" if ends is None else f" ({shown(ends[0])} to {shown(ends[1])})"
    return f"{shown(abs(difference.mean))}{within} {way}"


def _verdict(found: MixResult) -> str:
    row = found.loss(found.recommended)
    equal, learned = found.loss(EQUAL), found.loss(LEARNED)
    assert row is not None and equal is not None and learned is not None  # noqa: PT018
    if found.recommended != EQUAL:
        use, over = mixture_in_words(found.mixture), difference_text(row.gains[EQUAL], found)
        gained = f"{_loss(row.mean, found)}, {over} than equal weights."
        if not any(corpus.is_capped for corpus in found.corpora):
            return f"Use {use}: {gained}"
        return (
            f"Use {use}. Without the limit of {found.most_passes:.3g} passes it would be "
            f"{mixture_in_words(found.uncapped)}, which came to {gained}"
        )
    against = difference_text(learned.gains[EQUAL], found)
    if len(found.seeds) == 1:
        what = "No mixture was better than equal weights"
    else:
        what = "No mixture was measurably better than equal weights"
    return (
        f"{what}; learned weights came to {_loss(learned.mean, found)}, {against}. Use equal "
        "weights, or give it a larger budget or more seeds."
    )


def _beside(found: MixResult) -> list[str]:
    """How the recommended weights are beside the ones that they were not compared with yet."""
    row, learned = found.loss(BY_SIZE), found.loss(LEARNED)
    if row is None:
        return ["All sources have one size, so weights by size are equal weights."]
    assert learned is not None
    if found.recommended == BY_SIZE:
        over = difference_text(row.gains[LEARNED], found)
        return [f"These are weights by size; that is {over} than learned weights."]
    if found.recommended == LEARNED:
        gain = learned.gains[BY_SIZE]
        sure = "" if gain.is_measured or gain.interval is None else ", which may be chance"
        return [f"That is {difference_text(gain, found)} than weights by size{sure}."]
    return [f"Weights by size came to {_loss(row.mean, found)}."]


def _at_floor(found: MixResult) -> list[str]:
    floor = [corpus.name for corpus in found.corpora if corpus.at_floor]
    if not floor or found.recommended != LEARNED:
        return []
    said = f"Not worth their tokens: {listed(floor)}; learning took them as low as it may."
    if any(corpus.is_capped for corpus in found.corpora):
        return [f"{said} They are drawn this often only because the others have too little text."]
    return [said]


def _hardly_drawn(found: MixResult) -> list[str]:
    """What learning came close to leaving out, where no bound kept it from that."""
    rare = {name: share for name, share in found.mixture.items() if share < _HARDLY}
    if not rare or found.recommended != LEARNED:
        return []
    have = "has" if len(rare) == 1 else "have"
    together = " together" if len(rare) > 1 else ""
    return [f"Hardly drawn: {listed(rare)} {have} {percent_text(sum(rare.values()))}{together}."]


def _repeated(found: MixResult) -> list[str]:
    """What would be repeated too often, and what was done about it."""
    if found.most_passes is None:
        return []
    most, amount = f"{found.most_passes:.3g}", f"{short(found.wanted)} {found.unit}"
    if found.is_short:
        passes = sum(corpus.passes * corpus.by_size for corpus in found.corpora)
        return [
            f"All sources together are too little for {amount}: that is {passes:,.1f} passes over "
            f"them, and beyond {most} text that is repeated teaches little."
        ]
    beyond, below = found.most_passes * (1 + 1e-6), found.most_passes * (1 - 1e-6)
    held = [corpus for corpus in found.corpora if corpus.uncapped_passes > beyond]
    if held:
        named = listed([f"{c.name} ({c.uncapped_passes:.1f} passes)" for c in held])
        enough = found.wanted * found.most_passes / max(c.uncapped_passes for c in held)
        return [
            f"Held at {most} passes for {amount}: {named}; the rest went to the others. For "
            f"up to {short(enough)} {found.unit} nothing would have to be held."
        ]
    full = [corpus.name for corpus in found.corpora if corpus.passes > below]
    if not full:
        return []
    return [
        f"At the limit of {most} passes for {amount}, in the runs too: {listed(full)}. Give more "
        "text like it, if there is any."
    ]


def _left_out(found: MixResult) -> list[str]:
    """What no other program is given."""
    if not found.left_out:
        return []
    share = percent_text(sum(found.mixture[name] for name in found.left_out))
    return [
        f"Left out of mixture.yaml and mixture.json: {listed(found.left_out)}, which would have "
        f"{share} of what is drawn."
    ]


def _loss(score: float, found: MixResult) -> str:
    title = found.measure.title
    unit = title if title == "%" else f" {title}"
    return f"{found.measure.shown(score)}{unit} on {found.target}"


def _way(found: MixResult, *, better: bool) -> str:
    return "less" if better == found.measure.lower_is_better else "more"


def _ends(ends: Interval | None, *, sign: int) -> Interval | None:
    if ends is None:
        return None
    low, high = sorted(sign * end for end in ends)
    return low, high
