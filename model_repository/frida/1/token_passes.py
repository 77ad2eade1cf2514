"""Groups rows of tokens into forward passes: little padding, and no more padded tokens than a budget."""

from collections.abc import Iterator, Sequence

# Tensor cores want lengths that are multiples of this.
MULTIPLE = 8
# How much longer than its shortest row a pass may be, and by how many tokens it may always be longer.
STRETCH = 1.25
SLACK = 16


def padded(length: int) -> int:
    return -(-length // MULTIPLE) * MULTIPLE


def passes(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Row indices, sorted by length. A row longer than the budget has a pass of its own."""
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        longest = lengths[index]
        stretched = group and longest > lengths[group[0]] * STRETCH + SLACK
        if group and (stretched or padded(longest) * (len(group) + 1) > budget):
            yield group
            group = []
        group.append(index)
    if group:
        yield group
