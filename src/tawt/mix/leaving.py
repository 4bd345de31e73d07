"""The mixture as files that other programs read, and the answer as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from tawt import files
from tawt.files.markdown import escaped, prose
from tawt.mix.folder import MARKDOWN, MIXTURE_JSON, MIXTURE_YAML
from tawt.mix.page import mix_page
from tawt.mix.passes import DECIMALS
from tawt.mix.result import MIX
from tawt.mix.study import EQUAL, LEARNED
from tawt.mix.tables import CORPORA, LOSSES, corpus_cells, loss_cells
from tawt.mix.use import how_to_use
from tawt.mix.words import in_words, when_again
from tawt.runs.folder import PAGE
from tawt.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.mix.result import Interval, MixResult


def write_answer(found: MixResult, folder: Path) -> None:
    """Write everything that follows from the answer, the answer last but for its page.

    Args:
        found: The answer.
        folder: Of the mixture; only its writer may call this.
    """
    mixture = mixture_values(found)
    files.write_json(folder / MIXTURE_JSON, mixture)
    files.write(folder / MIXTURE_YAML, mixture_yaml(mixture))
    files.write(folder / MARKDOWN, markdown(found))
    files.write_sealed(folder / MIX, found.to_json())
    files.write(folder / PAGE, mix_page(found, folder))


def mixture_values(found: MixResult) -> dict[str, Any]:
    """The mixture, how sure it is, and how to use it.

    Sources that are left out of it are not named: what reads the file would wait for them.

    Args:
        found: The answer.
    """
    probabilities = rounded(found.handed_out)
    weighting = {"kind": "fixed", "initial": probabilities}
    return {
        "target": found.target,
        "recommended": found.recommended,
        "for": {"amount": round(found.wanted), "unit": found.unit},
        "probabilities": probabilities,
        "configuration": {
            "paradigm": "sources only",
            "sources": list(probabilities),
            "weighting": weighting,
        },
        "learned": _learned(found),
        "gain": _gain(found),
        "measure_again": _measure_again(found),
        "warnings": found.warnings,
        "how_to_use": how_to_use(),
        "made_by": f"tawt {__version__}",
    }


def _learned(found: MixResult) -> dict[str, Any]:
    """The learned weight of each source of the mixture, and its 95% interval over seeds."""
    return {
        corpus.name: {
            "weight": round(corpus.weight, DECIMALS),
            "interval": _ends(corpus.interval),
        }
        for corpus in found.corpora
        if corpus.name not in found.left_out
    }


def _gain(found: MixResult) -> dict[str, Any]:
    """What the recommended weights gain; of equal ones, why learned ones are not recommended."""
    row = found.loss(LEARNED if found.recommended == EQUAL else found.recommended)
    assert row is not None  # every answer has a row of what it recommends
    return {
        "of": row.name,
        "metric": found.metric,
        "unit": found.measure.unit,
        "split": found.split,
        "seeds": len(found.seeds),
        "over": {
            name: {"mean": round(gain.mean, DECIMALS), "interval": _ends(gain.interval)}
            for name, gain in row.gains.items()
        },
    }


def _measure_again(found: MixResult) -> dict[str, Any]:
    """After how much training, if the weights have settled, and the same in words."""
    factor = found.settling.factor
    after = None if factor is None else round(found.amount * factor)
    return {"after": after, "unit": found.unit, "rule": when_again(found)}


def _ends(ends: Interval | None) -> list[float] | None:
    return None if ends is None else [round(end, DECIMALS) for end in ends]


def rounded(mixture: dict[str, float]) -> dict[str, float]:
    """Probabilities in six decimals that add up to one: the largest takes what rounding leaves.

    Args:
        mixture: By name.

    Example:
        >>> rounded({"a": 2 / 3, "b": 1 / 3})
        {'a': 0.666667, 'b': 0.333333}
    """
    largest = max(mixture, key=lambda name: mixture[name])
    found = {name: round(share, DECIMALS) for name, share in mixture.items()}
    others = sum(share for name, share in found.items() if name != largest)
    return {**found, largest: round(1 - others, DECIMALS)}


def mixture_yaml(mixture: dict[str, Any]) -> str:
    """The same as YAML.

    Args:
        mixture: As `mixture_values` has it.
    """
    return yaml.dump(mixture, Dumper=_Lines, sort_keys=False, allow_unicode=True)


def markdown(found: MixResult) -> str:
    """The answer as Markdown: the verdict first, then both tables.

    Args:
        found: The answer.
    """
    parts = [prose(sentence) for sentence in in_words(found)]
    tables = [
        _table(CORPORA, [corpus_cells(corpus) for corpus in found.corpora]),
        _table(LOSSES, [loss_cells(row, found) for row in found.losses]),
    ]
    return "\n\n".join([f"# A mixture for {escaped(found.target)}", *parts, *tables]) + "\n"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *([escaped(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


class _Lines(yaml.SafeDumper):
    """Texts of several lines as such, and nothing said by reference to what was said before."""

    def ignore_aliases(self, data: Any) -> bool:
        """Every value is written out."""
        del data
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Lines.add_representer(str, _text)
