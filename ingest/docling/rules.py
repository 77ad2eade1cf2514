"""Ruled lines of a page, from its vector graphics, and the grids they make."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from docling.datamodel.base_models import Page
from docling_core.types.doc.base import BoundingBox

THICKEST = 2.5  # points; a filled box as thin as this is a line
TOUCH = 3.0  # points by which lines may miss each other


@dataclass(frozen=True)
class Rule:
    """A line: `at` on one axis, from `start` to `end` on the other, in points."""

    at: float
    start: float
    end: float

    @property
    def length(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Rules:
    """The horizontal and the vertical ones, each sorted."""

    across: list[Rule]
    down: list[Rule]

    def within(self, box: BoundingBox, slack: float = 4.0) -> "Rules":
        """Those that run through a box."""
        across = [
            rule
            for rule in self.across
            if box.t - slack <= rule.at <= box.b + slack and rule.end > box.l and rule.start < box.r
        ]
        down = [
            rule
            for rule in self.down
            if box.l - slack <= rule.at <= box.r + slack and rule.end > box.t and rule.start < box.b
        ]
        return Rules(across, down)


def rules_of(page: Page) -> Rules:
    """The rules of a page: stroked lines and thin filled boxes."""
    backend = page._backend
    assert backend is not None
    boxes = list(backend.get_shape_lines() or [])
    if (thin := getattr(backend, "get_thin_shape_boxes", None)) is not None:
        boxes += list(thin(max_thickness=THICKEST) or [])
    across = [Rule((b.t + b.b) / 2, b.l, b.r) for b in boxes if b.b - b.t <= THICKEST and b.r - b.l > 8]
    down = [Rule((b.l + b.r) / 2, b.t, b.b) for b in boxes if b.r - b.l <= THICKEST and b.b - b.t > 5]
    return Rules(united(across), united(down))


def united(rules: Iterable[Rule], slack: float = 1.5) -> list[Rule]:
    """Pieces of one line made one: programs draw a table's rules cell by cell."""
    found: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: (rule.at, rule.start, rule.end)):
        for index in range(len(found) - 1, max(-1, len(found) - 61), -1):
            other = found[index]
            near = abs(other.at - rule.at) <= slack
            if near and rule.start <= other.end + TOUCH and rule.end >= other.start - TOUCH:
                found[index] = Rule(other.at, min(other.start, rule.start), max(other.end, rule.end))
                break
        else:
            found.append(rule)
    return found


def grids_of(rules: Rules) -> Iterator[BoundingBox]:
    """The boxes of connected groups of crossing lines: at least two each way."""
    groups = Groups(len(rules.across) + len(rules.down))
    for i, across in enumerate(rules.across):
        for j, down in enumerate(rules.down):
            if crosses(across, down):
                groups.unite(i, len(rules.across) + j)
    for group in groups.all():
        across_group = [rules.across[i] for i in group if i < len(rules.across)]
        down_group = [rules.down[i - len(rules.across)] for i in group if i >= len(rules.across)]
        if len(across_group) >= 2 and len(down_group) >= 2:
            yield box_of(across_group, down_group)


def crosses(across: Rule, down: Rule) -> bool:
    reaches_down = down.start - TOUCH <= across.at <= down.end + TOUCH
    return reaches_down and across.start - TOUCH <= down.at <= across.end + TOUCH


def box_of(across: Sequence[Rule], down: Sequence[Rule]) -> BoundingBox:
    return BoundingBox(
        l=min([rule.at for rule in down] + [rule.start for rule in across]),
        t=min([rule.at for rule in across] + [rule.start for rule in down]),
        r=max([rule.at for rule in down] + [rule.end for rule in across]),
        b=max([rule.at for rule in across] + [rule.end for rule in down]),
    )


class Groups:
    """Which of n things hang together (union-find)."""

    def __init__(self, size: int) -> None:
        self._heads = list(range(size))

    def head(self, thing: int) -> int:
        while self._heads[thing] != thing:
            self._heads[thing] = self._heads[self._heads[thing]]
            thing = self._heads[thing]
        return thing

    def unite(self, one: int, other: int) -> None:
        self._heads[self.head(one)] = self.head(other)

    def all(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for thing in range(len(self._heads)):
            found.setdefault(self.head(thing), []).append(thing)
        return list(found.values())


def snapped(values: Iterable[float], slack: float = TOUCH) -> list[float]:
    """Values that nearly agree, made one: the mean of each run."""
    runs: list[list[float]] = []
    for value in sorted(values):
        if runs and value - runs[-1][-1] <= slack:
            runs[-1].append(value)
        else:
            runs.append([value])
    return [sum(run) / len(run) for run in runs]
