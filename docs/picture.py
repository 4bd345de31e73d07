"""Draw the README's picture from a finished demonstration.

    tawt demo && python docs/picture.py runs/demo

Writes docs/images/demo.svg: the mean weight of every source over training, sources only.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

from tawt.compare import load_comparison
from tawt.config.rows import slug
from tawt.report.over_time import averaged
from tawt.runs import RunFolder

ROW = "weighted normalized joint"
HELPFUL = ("parity", "magnitude", "shape")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 330, 52, 120, 34, 40
GOOD, BAD, GREY = "#009E73", "#D55E00", "#8a8f94"


def main() -> None:
    """Read the folder named on the command line, and draw."""
    folder = Path(sys.argv[1])
    comparison = load_comparison(folder)
    runs = [RunFolder(folder / slug(ROW) / str(seed)).updates() for seed in comparison.seeds]
    updates = averaged(runs)
    names = [name for name in updates[0]["weights"] if name != comparison.target]
    last = updates[-1]["step"]
    top = max(update["weights"][name] for update in updates for name in names) * 1.08

    def x(step: float) -> float:
        return LEFT + step / last * (WIDTH - LEFT - RIGHT)

    def y(weight: float) -> float:
        return HEIGHT - BOTTOM - weight / top * (HEIGHT - TOP - BOTTOM)

    start = (1 - updates[0]["weights"][comparison.target]) / len(names)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        f'<text x="{LEFT}" y="18" fill="{GREY}">share of each source in the objective</text>',
    ]
    for tick in range(int(top * 20) + 1):
        level = tick / 20
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(level):.1f}" y2="{y(level):.1f}" '
            f'stroke="{GREY}" stroke-opacity="0.25"/>'
            f'<text x="{LEFT - 8}" y="{y(level) + 4:.1f}" text-anchor="end" fill="{GREY}">'
            f"{level:.2f}</text>"
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle" fill="{GREY}">'
        f"training, {last} steps</text>"
    )
    labels = _spread({name: y(updates[-1]["weights"][name]) for name in names})
    for name in names:
        points = [(0.0, start), *((u["step"], u["weights"][name]) for u in updates)]
        path = " ".join(f"{x(step):.1f},{y(weight):.1f}" for step, weight in points)
        colour = GOOD if name in HELPFUL else BAD
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.2"/>'
            f'<text x="{WIDTH - RIGHT + 8}" y="{labels[name] + 4:.1f}" fill="{colour}">'
            f"{escape(name)}</text>"
        )
    picture = Path(__file__).parent / "images" / "demo.svg"
    picture.parent.mkdir(exist_ok=True)
    picture.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


def _spread(places: dict[str, float]) -> dict[str, float]:
    """Labels at least 15 pixels apart, lowest first, in the order of their lines."""
    placed: dict[str, float] = {}
    limit = float("inf")
    for name in sorted(places, key=lambda name: -places[name]):
        placed[name] = limit = min(places[name], limit - 15)
    return placed


if __name__ == "__main__":
    main()
