"""Results as rows of text for a table, as Markdown, and as plain values for JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields

from evaluation.functional import Verdict
from evaluation.measures import Mean
from evaluation.tally import Tally

Table = tuple[list[str], list[list[str]]]
"""Headings, and rows of as many cells."""

ROW_NAMES = {
    "bm25": "BM25",
    "dense": "dense",
    "rrf_global": "RRF, global",
    "rrf_per_collection": "RRF, per collection",
    "reranked": "RRF + reranker",
}
COLUMN_NAMES = {
    "passed_answerable": "answered with evidence",
    "first": "evidence first",
    "five": "among five",
    "thirteen": "recall@13",
    "quoted": "quote in sources",
    "verified": "citations verified",
    "supported": "all supported",
    "in_scope": "not deferred",
    "refused": "refused",
    "refusal_precision": "refusals right",
    "fixed_text": "fixed text",
}


def retrieval_table(rows: Mapping[str, Mapping[str, Mean]]) -> Table:
    """A row per ranking, a column per measure: means, three decimals; empty where a row lacks a measure."""
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    body = [
        [ROW_NAMES.get(row, row), *(f"{values[name].mean:.3f}" if name in values else "" for name in names)]
        for row, values in rows.items()
    ]
    return ["", *names], body


def functional_table(groups: Mapping[str, Tally]) -> Table:
    """A row per group of questions, a column per share in per cent; empty where there is none."""
    shares = [field.name for field in fields(Tally) if field.name in COLUMN_NAMES]
    body = [
        [name, str(one.questions), str(one.answerable), *(_percent(getattr(one, share)) for share in shares)]
        for name, one in groups.items()
    ]
    return ["group", "questions", "answerable", *(COLUMN_NAMES[share] for share in shares)], body


def failure_table(failed: Sequence[Verdict]) -> Table:
    """A row per question that did not pass, by id: what was expected, what came, where the evidence was."""
    body = [
        [
            one.question.id,
            "answer" if one.question.answerable else "refusal",
            one.error or one.outcome,
            one.reason,
            "" if one.rank is None else str(one.rank),
            "yes" if one.among_candidates else "",
            "" if one.best_rerank is None else f"{one.best_rerank:.3f}",
        ]
        for one in failed
    ]
    return ["failed", "expected", "came", "reason", "evidence rank", "in 13", "best score"], body


def markdown(table: Table) -> str:
    """The table in Markdown."""
    headings, rows = table
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def verdict_values(one: Verdict) -> dict[str, object]:
    """A verdict for JSON: ids and figures, never the question's or the answer's text."""
    values = asdict(one)
    question = one.question
    values["question"] = question.id
    return values | {
        "topic": question.topic,
        "language": question.language,
        "answerable": question.answerable,
        "passed": one.passed,
    }


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"
