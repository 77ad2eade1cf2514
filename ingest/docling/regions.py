"""Finds where tables stand on a page: ruled grids, tables with horizontal rules only, and aligned columns."""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from statistics import mean

from docling_core.types.doc.base import BoundingBox

from ingest.docling.rules import Rule, Rules, grids_of, snapped
from ingest.docling.textline import TextLine, rows_of

# A run of dots is tried once.
LEADER = re.compile(r"((?<!\.)(?<!\.\s)(\.\s?){5,}+|(?<!…)…{2,}+)\s*+\d*+\s*+$")


def ruled_tables(lines: list[TextLine], rules: Rules, width: float, height: float) -> Iterator[BoundingBox]:
    """Boxes of tables with rules, the larger first; a page's frame and a box around text are none."""
    boxes = list(grids_of(rules))
    boxes += between_rules(lines, rules, boxes)
    for box in sorted(boxes, key=lambda box: -box.area()):
        inside = [line for line in lines if stands_in(line, box)]
        frame = box.r - box.l > 0.98 * width and box.b - box.t > 0.95 * height
        if len(inside) >= 2 and not frame and (columns(box, rules) >= 2 or has_columns(inside)):
            yield box


def columns(box: BoundingBox, rules: Rules) -> int:
    """Columns that vertical rules of a third of the box's height or more part."""
    long = [
        rule.at
        for rule in rules.down
        if box.l - 3 <= rule.at <= box.r + 3
        and min(rule.end, box.b) - max(rule.start, box.t) > 0.3 * (box.b - box.t)
    ]
    return len(snapped(long, 4)) - 1


def between_rules(lines: list[TextLine], rules: Rules, known: list[BoundingBox]) -> Iterator[BoundingBox]:
    """Runs of three or more rules of one width, outside of known tables, with rows of columns between."""
    widths: dict[tuple[int, int], list[float]] = defaultdict(list)
    for rule in rules.across:
        if rule.length > 60 and not any(runs_through(rule, box) for box in known):
            widths[round(rule.start / 4), round(rule.end / 4)].append(rule.at)
    for (left, right), heights in widths.items():
        for run in runs_of_rules(lines, sorted(heights), left * 4, right * 4):
            box = BoundingBox(l=left * 4, t=run[0], r=right * 4, b=run[-1])
            if len(run) >= 3 and has_columns([line for line in lines if stands_in(line, box)]):
                yield box


def runs_through(rule: Rule, box: BoundingBox, slack: float = 3.0) -> bool:
    """Whether a horizontal rule is part of a box."""
    return box.t - slack <= rule.at <= box.b + slack and rule.end > box.l and rule.start < box.r


def runs_of_rules(
    lines: list[TextLine], heights: list[float], left: float, right: float
) -> Iterator[list[float]]:
    """Rules parted wherever running text stands between two of them: there one table ends, another begins."""
    run = heights[:1]
    for above, below in pairwise(heights):
        gap = BoundingBox(l=left, t=above, r=right, b=below)
        inside = [line for line in lines if stands_in(line, gap, slack=0)]
        if len(rows_of(inside)) >= 2 and not has_columns(inside):
            yield run
            run = []
        run = [*run, below]
    yield run


def stands_in(line: TextLine, box: BoundingBox, slack: float = 3.0) -> bool:
    middle = (line.left + line.right) / 2
    return box.l - slack <= middle <= box.r + slack and box.t - slack <= line.middle <= box.b + slack


def has_columns(lines: list[TextLine]) -> bool:
    rows = rows_of(lines)
    return len(rows) >= 2 and sum(len(row) >= 2 for row in rows) >= 0.5 * len(rows)


def aligned_tables(lines: list[TextLine], size: float) -> Iterator[list[TextLine]]:
    """Runs of three or more rows of three or more short cells: tables without rules."""
    run: list[list[TextLine]] = []
    for row in [*rows_of(lines), []]:
        if is_tabular(row) and (not run or near(run[-1], row, size)):
            run.append(row)
            continue
        if len(run) >= 3:
            yield [line for cells in run for line in cells]
        run = [row] if is_tabular(row) else []


def is_tabular(row: list[TextLine]) -> bool:
    if len(row) < 3 or any(LEADER.search(line.text) for line in row):
        return False
    return mean(len(line.text) for line in row) < 30


def near(above: list[TextLine], row: list[TextLine], size: float) -> bool:
    return min(line.top for line in row) - max(line.bottom for line in above) <= 2.5 * size


def contents_of(lines: list[TextLine]) -> list[TextLine]:
    """The lines of a table of contents: dotted leaders, three or more, and what stands between them."""
    dotted = [line for line in lines if LEADER.search(line.text)]
    if len(dotted) < 3:
        return []
    box = BoundingBox(
        l=min(line.left for line in dotted),
        t=min(line.top for line in dotted),
        r=max(line.right for line in dotted),
        b=max(line.bottom for line in dotted),
    )
    return [line for line in lines if stands_in(line, box)]
