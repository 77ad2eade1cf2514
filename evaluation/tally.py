"""Counts verdicts into the functional table: by topic, by language, across languages, and what failed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from evaluation.functional import Verdict


@dataclass(frozen=True)
class Tally:
    """Shares from 0 to 1 over one group of questions; None where there is nothing to share out.

    passed_answerable: answerable questions ANSWERED with their evidence document among the five sources.
    first / five / thirteen: evidence document at rank 1, among the sources, among the reranked candidates.
    quoted: the evidence's own words stand in the sources. verified: citations found in the stored text.
    supported: answers without an unsupported sentence. in_scope: questions that no gate deferred.
    refused: unanswerable questions that ended INSUFFICIENT_EVIDENCE. refusal_precision: refusals that were
    right. fixed_text: refusals that say the fixed message and nothing else.
    """

    questions: int
    answerable: int
    passed_answerable: float | None
    first: float | None
    five: float | None
    thirteen: float | None
    quoted: float | None
    verified: float | None
    supported: float | None
    in_scope: float | None
    refused: float | None
    refusal_precision: float | None
    fixed_text: float | None


REQUIRABLE = tuple(name for name in Tally.__annotations__ if name not in {"questions", "answerable"})


def tally(verdicts: Sequence[Verdict]) -> Tally:
    """The table's row for these verdicts."""
    answerable = [one for one in verdicts if one.question.answerable]
    unanswerable = [one for one in verdicts if not one.question.answerable]
    refusals = [one for one in verdicts if one.refused]
    return Tally(
        questions=len(verdicts),
        answerable=len(answerable),
        passed_answerable=_share(one.answered and one.among_sources for one in answerable),
        first=_share(one.rank == 1 for one in answerable),
        five=_share(one.among_sources for one in answerable),
        thirteen=_share(one.among_candidates for one in answerable),
        quoted=_share(one.quoted for one in answerable),
        verified=_share(k < one.verified for one in verdicts for k in range(one.citations)),
        supported=_share(not one.unsupported for one in verdicts if one.answered),
        in_scope=_share(one.outcome != "OUT_OF_SCOPE" for one in verdicts if not one.error),
        refused=_share(one.outcome == "INSUFFICIENT_EVIDENCE" for one in unanswerable),
        refusal_precision=_share(not one.question.answerable for one in refusals),
        fixed_text=_share(one.fixed_text for one in refusals),
    )


def groups(verdicts: Sequence[Verdict]) -> dict[str, Tally]:
    """The rows of the table: all, each topic, each language, each complexity, and across languages."""
    parts: dict[str, list[Verdict]] = {"all": list(verdicts)}
    for kind, value in _KINDS.items():
        for name in sorted({value(one) for one in verdicts}):
            parts[f"{kind} {name}"] = [one for one in verdicts if value(one) == name]
    crossing = [one for one in verdicts if one.question.cross_language]
    return {name: tally(part) for name, part in (parts | {"across languages": crossing}).items() if part}


def failures(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts that did not pass, in their order."""
    return [one for one in verdicts if not one.passed]


def below(all_questions: Tally, required: Mapping[str, float]) -> list[str]:
    """A sentence for each share that is lower than required, or that could not be measured."""
    shares = asdict(all_questions)
    return [
        f"{name} is {_shown(shares[name])}, required is {value:.3f}"
        for name, value in required.items()
        if shares[name] is None or shares[name] < value
    ]


def _shown(share: float | None) -> str:
    return "not measured" if share is None else f"{share:.3f}"


_KINDS: dict[str, Callable[[Verdict], str]] = {
    "topic": lambda one: one.question.topic,
    "language": lambda one: one.question.language,
    "complexity": lambda one: str(one.question.complexity),
}


def _share(flags: Iterable[bool]) -> float | None:
    given = list(flags)
    return sum(given) / len(given) if given else None
