"""Other ways to cut a document, to compare with: pieces of fixed size that overlap, and recursive cutting.

Both know tokens, not structure. Their pieces are parents with one child each, the piece itself: what is found
is what is read. Overlapping pieces cover the text more than once.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.cutting import Range
from ingest.tokens import Ruler

PARENT_CHILD, FIXED, RECURSIVE = "parent_child", "fixed", "recursive"
STRATEGIES = (PARENT_CHILD, FIXED, RECURSIVE)
OVERLAP = 0.125  # of a piece's tokens that the next repeats: 64 of 512
SEPARATORS = ("\n\n", "\n", ". ", " ")


def pieces(strategy: str, text: str, ruler: Ruler, most: int, overlap: float = OVERLAP) -> list[Range]:
    """The pieces by `fixed` or `recursive`, none above `most` tokens, in order, none empty."""
    if strategy == FIXED:
        return list(fixed(text, ruler, most, overlap))
    return recursive((0, len(text)), text, ruler, most)


def fixed(text: str, ruler: Ruler, most: int, overlap: float = OVERLAP) -> Iterator[Range]:
    """Runs of `most` tokens; each begins that share of them, `overlap`, before the end of the one before."""
    step = max(1, most - int(overlap * most))
    bounds = [0, *map(int, ruler.ends)]
    for first in range(0, max(1, len(bounds) - 1), step):
        last = first + most
        end = bounds[last] if last < len(bounds) - 1 else len(text)
        if end > bounds[first]:
            yield bounds[first], end
        if end == len(text):
            return


def recursive(
    part: Range, text: str, ruler: Ruler, most: int, separators: Sequence[str] = SEPARATORS
) -> list[Range]:
    """Cut at the coarsest separator that helps, then neighbours joined as long as they fit."""
    if ruler.count(*part) <= most:
        return [part]
    if not separators:
        return [(part[0] + start, part[0] + end) for start, end in hard(part, ruler, most)]
    cuts = cuts_of(part, text, separators[0])
    smaller = [
        one
        for piece in pairwise([part[0], *cuts, part[1]])
        for one in recursive(piece, text, ruler, most, separators[1:])
    ]
    return joined(smaller, ruler, most)


def cuts_of(part: Range, text: str, separator: str) -> list[int]:
    """The places behind each separator inside a range."""
    found, at = [], text.find(separator, *part)
    while at >= 0 and at + len(separator) < part[1]:
        found.append(at + len(separator))
        at = text.find(separator, at + len(separator), part[1])
    return found


def joined(parts: Sequence[Range], ruler: Ruler, most: int) -> list[Range]:
    done = [parts[0]]
    for start, end in parts[1:]:
        if ruler.count(done[-1][0], end) <= most:
            done[-1] = (done[-1][0], end)
        else:
            done.append((start, end))
    return done


def hard(part: Range, ruler: Ruler, most: int) -> Iterator[Range]:
    """A word of more tokens than allowed, cut between tokens; ranges count from its start."""
    start, end = part
    while ruler.count(start, end) > most:
        stop = int(ruler.ends[ruler.upto(start) + most - 1])
        if stop <= start:
            break
        yield start - part[0], stop - part[0]
        start = stop
    yield start - part[0], end - part[0]
