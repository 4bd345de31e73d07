"""What a comparison came to, in sentences that follow from its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tawt.compare.comparison import Comparison


def in_words(comparison: Comparison) -> list[str]:
    """What happened, in a few sentences that follow from the numbers."""
    sentences = []
    gained = [row for row in comparison.rows if row.learns and row.difference is not None]
    for row in sorted(gained, key=lambda row: -(row.difference or 0)):
        better = "better" if (row.difference or 0) > 0 else "worse"
        sure = f"{_how_sure(row.p_value)} over test examples"
        if row.p_seeds is not None:
            sure += f", {_how_sure(row.p_seeds)} over seeds"
        sentences.append(
            f"{row.name.capitalize()} is {abs(100 * (row.difference or 0)):.1f} points {better} "
            f"than {row.against} (on {row.wins} of {len(comparison.seeds)} seeds; {sure})."
        )
    trusted = comparison.row("weighted normalized joint")
    alone = comparison.row("single-task")
    if trusted is not None and alone is not None:
        gain = 100 * (trusted.mean - alone.mean)
        sentences.append(f"Against the target's examples alone, {trusted.name} makes {gain:+.1f}.")
    if trusted is not None and set(trusted.weights) - {comparison.target}:
        sentences.append(_trust(trusted.weights, comparison.target))
    return sentences


def _how_sure(p_value: float | None) -> str:
    if p_value is None:
        return "not tested"
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def _trust(weights: dict[str, float], target: str) -> str:
    sources = {name: share for name, share in weights.items() if name != target}
    equal = sum(sources.values()) / len(sources)
    ranked = sorted(sources, key=lambda name: -sources[name])
    up = [name for name in ranked if sources[name] > 1.25 * equal]
    down = [name for name in reversed(ranked) if sources[name] < 0.5 * equal]

    def listed(names: list[str]) -> str:
        shown = [f"{name} ({100 * sources[name]:.0f}%)" for name in names]
        return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)

    if not up and not down:
        return "The learned weights trusted all sources about alike."
    said = f"The learned weights trusted {listed(up)} most" if up else "No source stood out"
    return f"{said}, and {listed(down)} least." if down else f"{said}."
