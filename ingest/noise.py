"""Scores a chunk by seven features into five classes: text, contents, references, contacts, damage.

Noise is kept out of the search, not out of the document: parents and offsets stay as they are. A class scores
the sum of its weights times the features, 0 to 1; the best that reaches the threshold names the chunk, else
it is text. The weights were set by hand on the labelled examples of `tests/ingest/noise_examples.jsonl`.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from ingest.cleaning.contents import has_leader
from ingest.cleaning.references import is_citation

TEXT = "text"
THRESHOLD = 0.5
# For each class the weight of each feature; a feature not named weighs nothing.
WEIGHTS: dict[str, dict[str, float]] = {
    "contents": {"pages": 1.0, "sentences": -0.3},
    "references": {"citations": 1.0, "pages": -0.2, "contacts": -0.2, "sentences": -0.3},
    "contacts": {"contacts": 1.0, "citations": -0.5, "sentences": -0.2},
    "damage": {"strange": 0.8, "unlettered": 0.5, "repetition": 0.4, "sentences": -0.3},
}
WORD = re.compile(r"[^\W\d_]+")
ORDINARY = re.compile(r"[а-яё]{2,24}|[a-z]{2,20}|[аиоуясвк]|[ai]")
VOWEL = re.compile(r"[аеёиоуыэюяaeiouy]")
PAGE = re.compile(r"\S\s+\d{1,4}$")
CUE = re.compile(
    r"\bdoi\b|\bet al\b|\bи др\.|\s//\s|\b(19|20)\d\d\b\s?([;.,:]|[–—-](?![^\W\d_]))|\b[СсPp]\.\s?\d+|"
    r"\d{1,9}\s?[сc]\.|\b\d+\s?\(\d+\)\s?[:,]|\bVol\.|\bТ\.\s?\d"
)
CONTACT = re.compile(
    r"[^\s@]{1,64}@\S+|\+?\d[\d() -]{8,}\d|\bORCID\b|(?:доктор|кандидат)\w{0,20} медицинских наук|"
    r"\bд\.\s?м\.\s?н\.|\bк\.\s?м\.\s?н\.|\bпрофессор|\b(?:MD|PhD)\b|\bprofessor\b|\bкафедр\w+|"
    r"\bdepartment of\b|\buniversity\b|\bуниверситет\w*|(?-i:\b[А-ЯЁ]\.\s?[А-ЯЁ]\.)|\bтел\.|\bhttps?://",
    re.I,
)
# Where an author and a year stand in brackets a text is told, and says whence.
BRACKETS = re.compile(r"\([^()]{1,600}\)")
DATED = re.compile(r"[^\W\d_]{2}.*\b(19|20)\d\d[a-z]?\b", re.S)
CITED, NAMED = 8.0, 12.0  # signs in a hundred words at which citations and contacts are full
WORDS_KEPT = 50_000  # of a language, and what was judged of each
FEWEST_WORDS = 5  # fewer tell nothing
TABLE_LINES = 0.5  # share of lines from which a chunk is a table: numbers are its text


def noise_class(text: str, threshold: float = THRESHOLD) -> str:
    """The class of a chunk; TEXT when none of the others reaches the threshold."""
    if is_table(text) or len(WORD.findall(text)) < FEWEST_WORDS:
        return TEXT
    scores = scores_of(features(text))
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] >= threshold else TEXT


def scores_of(found: Mapping[str, float]) -> dict[str, float]:
    """The score of each class but text."""
    return {
        name: sum(weight * found[feature] for feature, weight in weights.items())
        for name, weights in WEIGHTS.items()
    }


def features(text: str) -> dict[str, float]:
    """The seven features of a text, each 0 to 1."""
    words = [word.lower() for word in WORD.findall(text)]
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    bare = re.sub(r"\s", "", text)
    per_hundred = 100 / max(1, len(words))
    return {
        # Lines that end with a page number or a dotted leader.
        "pages": share(sum(is_entry(line) for line in lines), len(lines)),
        # Signs of citations, of which text may have one, and of people and addresses.
        "citations": min(1.0, max(0, len(CUE.findall(told(text))) - 1) * per_hundred / CITED),
        "contacts": min(1.0, len(CONTACT.findall(text)) * per_hundred / NAMED),
        # Words that no language writes so; characters that are no letters.
        "strange": share(sum(not is_ordinary(word) for word in words), len(words)),
        "unlettered": share(len(bare) - sum(map(str.isalpha, bare)), len(bare)),
        # Words that came before in the chunk, beyond the half that ordinary text repeats.
        "repetition": max(0.0, 1 - 2 * share(len(set(words)), len(words))),
        # Words in lines that close a sentence.
        "sentences": share(sum(len(WORD.findall(line)) for line in lines if is_sentence(line)), len(words)),
    }


def is_table(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return share(sum(line.lstrip().startswith("|") for line in lines), len(lines)) >= TABLE_LINES


def is_entry(line: str) -> bool:
    return has_leader(line) or (PAGE.search(line) is not None and len(line) < 120)


@lru_cache(maxsize=WORDS_KEPT)
def is_ordinary(word: str) -> bool:
    return ORDINARY.fullmatch(word) is not None and (len(word) < 4 or VOWEL.search(word) is not None)


def is_sentence(line: str) -> bool:
    """Six words or more and a full stop: what is told, not listed."""
    return line[-1] in ".!?…" and len(WORD.findall(line)) >= 6 and not is_citation(told(line))


def told(text: str) -> str:
    """A text without the citations in it, "(Beier et al., 2011)"; a list's entries are dated otherwise."""
    return BRACKETS.sub(lambda group: "" if DATED.search(group[0]) else group[0], text)


def share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
