"""Raters whose agreement is known: each gives the true grade with probability p, else any grade at random.

With true grades spread evenly over the scale, AC1 and AC2 of any number of such raters are p².
"""

import random
from pathlib import Path

from openpyxl import load_workbook

from evaluation.experts.plan import RatedQuestion, Rater

DEPARTMENTS = ("CT", "MRI", "ultrasound", "mammography", "X-ray")


def raters(count: int = 24) -> list[Rater]:
    return [Rater(f"R{n:02d}", DEPARTMENTS[n % 5]) for n in range(count)]


def questions(count: int, sources: int = 3) -> list[RatedQuestion]:
    """The first thirty are by raters, the others by strangers."""
    return [
        RatedQuestion(
            f"q{n:03d}",
            DEPARTMENTS[n % 5],
            f"R{n % 24:02d}" if n < 30 else "outside",
            f"Question {n}?",
            "=1+1 is an answer, not a formula",
            tuple(f"source {k} of {n}" for k in range(sources)),
        )
        for n in range(count)
    ]


def grade(draw: random.Random, true: int, p: float) -> int:
    return true if draw.random() < p else draw.randint(1, 5)


def fill_in(folder: Path, p: float, seed: int) -> None:
    """Fills in every sheet of a folder; the true grade of a cell depends on what is rated alone."""
    draw = random.Random(seed)
    for path in sorted(folder.glob("*.xlsx")):
        book = load_workbook(path)
        for sheet, fixed in (("Answers", 3), ("Sources", 4)):
            for row in book[sheet].iter_rows(min_row=2):
                for place, cell in enumerate(row[fixed:-1]):
                    subject = f"{seed} {row[0].value} {row[2].value if fixed == 4 else ''} {place}"
                    cell.value = grade(draw, random.Random(subject).randint(1, 5), p)
        book.save(path)
