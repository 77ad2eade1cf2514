"""Words an answer shares with its reference: BLEU-1 to 4 by sacrebleu, ROUGE-1, 2 and L.

ROUGE is written out because rouge-score drops every letter that is not Latin. None of them knows what is
true: they are kept because published systems report them.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from sacrebleu.metrics.bleu import BLEU

_WORD = re.compile(r"\w+")
_BLEU = {
    n: BLEU(max_ngram_order=n, tokenize="intl", lowercase=True, effective_order=True) for n in (1, 2, 3, 4)
}


def overlap(answer: str, reference: str) -> dict[str, float]:
    """Each measure, 0..1; ROUGE as F1 of stems' surface forms, in lower case."""
    values = {f"bleu_{n}": one.sentence_score(answer, [reference]).score / 100 for n, one in _BLEU.items()}
    said, meant = (_WORD.findall(text.lower()) for text in (answer, reference))
    values |= {f"rouge_{n}": _f1_of(_grams(said, n), _grams(meant, n)) for n in (1, 2)}
    return values | {"rouge_l": _f1(_common(said, meant), len(said), len(meant))}


def by_case(pairs: Mapping[str, tuple[str, str]]) -> dict[str, dict[str, float]]:
    """Measure → case → value, of (answer, reference) by case; an empty answer scores 0."""
    found: dict[str, dict[str, float]] = {}
    for case, (answer, reference) in pairs.items():
        for name, value in overlap(answer, reference).items():
            found.setdefault(name, {})[case] = value
    return found


def _grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))


def _f1_of(said: Counter[tuple[str, ...]], meant: Counter[tuple[str, ...]]) -> float:
    return _f1((said & meant).total(), said.total(), meant.total())


def _f1(common: int, said: int, meant: int) -> float:
    return 2 * common / (said + meant) if common else 0.0


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    before = [0] * (len(other) + 1)
    for word in one:
        row = [0]
        for k, match in enumerate(other):
            row.append(before[k] + 1 if word == match else max(row[k], before[k + 1]))
        before = row
    return before[-1]
