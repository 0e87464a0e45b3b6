"""The learning curve of a run, drawn from its metrics."""

import json
from pathlib import Path

import altair


def read_metrics(path: Path) -> list[dict[str, float]]:
    """The evaluations in a metrics file, in order."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [line for line in lines if "epoch" in line]


def draw_curve(metrics: Path, out: Path) -> None:
    """Dev F1, dev EM and the training loss by epoch, as a page whose plot needs Vega's scripts to show."""
    rows = [
        {"epoch": line["epoch"], "measure": name, "value": line[key]}
        for line in read_metrics(metrics)
        for name, key in (("dev F1 (%)", "dev_f1"), ("dev EM (%)", "dev_em"), ("training loss", "train_loss"))
    ]
    chart = (
        altair.Chart({"values": rows}, title="Learning curve")
        .mark_line(point=True)
        .encode(x="epoch:Q", y="value:Q", color="measure:N")
        .properties(width=600, height=300)
    )
    chart.save(str(out), format="html")
