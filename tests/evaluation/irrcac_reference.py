"""Writes irrcac.json: what irrCAC 0.4.4 makes of random rating tables (`pip install --no-deps irrCAC`).

irrCAC asks for NumPy below 2, which the product's environment has not: its results are kept instead.
Run: python tests/evaluation/irrcac_reference.py
"""

import json
import math
import random
from pathlib import Path

KINDS = {"gwet": "gwet", "fleiss": "fleiss", "conger": "conger", "bp": "brennan_prediger"}
NAMES = {"identity": "unweighted", "linear": "linear", "quadratic": "quadratic"}


def table(draw: random.Random) -> list[list[int | None]]:
    """Subjects with a true grade, raters who err by one or guess; some ratings missing, one grade unused."""
    subjects, raters, noise = draw.randint(4, 40), draw.randint(2, 6), draw.random()
    missing, unused = draw.choice([0, 0, 0.15, 0.35]), draw.choice([None, 1, 3, 5])
    scale = [grade for grade in range(1, 6) if grade != unused]
    rows: list[list[int | None]] = []
    for _ in range(subjects):
        true = draw.choice(scale)
        row = [draw.choice(scale) if draw.random() < noise else true for _ in range(raters)]
        rows.append([None if draw.random() < missing else grade for grade in row])
    return rows


def main() -> None:
    import pandas as pd
    from irrCAC.benchmark import Benchmark
    from irrCAC.raw import CAC

    draw, cases = random.Random(20261201), list[object]()
    while len(cases) < 60:
        rows = table(draw)
        # irrCAC counts subjects nobody rated; a study has none.
        rows = [row for row in rows if any(value is not None for value in row)]
        frame = pd.DataFrame(rows, dtype=float)
        if (frame.count() == 0).any() or (frame.count(axis=1) >= 2).sum() < 2:
            continue
        weights = draw.choice(list(NAMES))
        asked = CAC(frame, weights=weights, categories=[1.0, 2.0, 3.0, 4.0, 5.0], digits=10)
        expected = {}
        for method, kind in KINDS.items():
            found = getattr(asked, method)()["est"]
            level = Benchmark(min(1, found["coefficient_value"]), max(1e-12, found["se"])).landis_koch()
            word = next(w for w, p in zip(level["Landis-Koch"], level["CumProb"], strict=True) if p >= 0.95)
            values = (found["coefficient_value"], found["se"], *found["confidence_interval"])
            expected[kind] = [float(value) for value in values] + [word]
        if all(math.isfinite(v) for values in expected.values() for v in values[:4]):
            cases.append({"ratings": rows, "weights": NAMES[weights], "expected": expected})
    out = Path(__file__).with_name("irrcac.json")
    out.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
