"""The learning curve of a run, drawn from its metrics as an SVG image that needs nothing else to show."""

import json
from collections.abc import Sequence
from pathlib import Path

from extractors.store import atomic_file

#: Of one panel, in pixels, and around the panels.
WIDTH, HEIGHT, MARGIN = 600, 200, 60
#: The panels: a title, and the measures in it with their colours.
_PANELS = (
    ("dev, percent", (("dev_f1", "F1", "#1f5fa8"), ("dev_em", "EM", "#c2571a"))),
    ("training", (("train_loss", "loss", "#3a7d44"),)),
)


def read_metrics(path: Path) -> list[dict[str, float]]:
    """The evaluations in a metrics file, in order."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [line for line in lines if "epoch" in line]


def draw_curve(metrics: Path, out: Path) -> None:
    """Dev F1 and EM, and below them the training loss, by epoch."""
    rows = read_metrics(metrics)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + 2 * MARGIN}" '
        f'height="{len(_PANELS) * (HEIGHT + MARGIN) + MARGIN}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for place, (title, measures) in enumerate(_PANELS):
        drawn.append(f'<g transform="translate({MARGIN},{MARGIN + place * (HEIGHT + MARGIN)})">')
        drawn += _panel(rows, title, measures)
        drawn.append("</g>")
    with atomic_file(out) as file:
        file.write("\n".join([*drawn, "</svg>\n"]).encode())


def _panel(
    rows: Sequence[dict[str, float]], title: str, measures: Sequence[tuple[str, str, str]]
) -> list[str]:
    """The lines of some measures over axes from 0 to the last epoch and to the greatest value."""
    last = max(row["epoch"] for row in rows)
    top = max(row[key] for row in rows for key, _, _ in measures) or 1.0
    drawn = [
        f'<path d="M0,0 V{HEIGHT} H{WIDTH}" fill="none" stroke="black"/>',
        f'<text x="0" y="-10" font-weight="bold">{title}</text>',
        f'<text x="-6" y="4" text-anchor="end">{top:.3g}</text>',
        f'<text x="-6" y="{HEIGHT}" text-anchor="end">0</text>',
        f'<text x="{WIDTH}" y="{HEIGHT + 16}" text-anchor="end">epoch {last:g}</text>',
    ]
    for key, name, colour in measures:
        points = [(row["epoch"] / last * WIDTH, HEIGHT - row[key] / top * HEIGHT) for row in rows]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        drawn.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        x, y = points[-1]
        drawn.append(
            f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{colour}">{name} {rows[-1][key]:.3g}</text>'
        )
    return drawn
