"""Turns what the answer path says into what goes over the wire. No decisions are made here."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from google.protobuf.duration_pb2 import Duration

from gateway.answer import Citation, Evidence, Finish, Kind, Notice, Outcome, Prompted, Sources, Usage
from gateway.models import Model
from gateway.passage import MatchedChild, Passage, Scores
from radrag import call
from radrag.assistant.v1 import assistant_pb2 as wire
from radrag.errors import RadragError
from radrag.telemetry import StageTime

_OUTCOMES = {
    Outcome.ANSWERED: wire.OUTCOME_ANSWERED,
    Outcome.INSUFFICIENT_EVIDENCE: wire.OUTCOME_INSUFFICIENT_EVIDENCE,
    Outcome.OUT_OF_SCOPE: wire.OUTCOME_OUT_OF_SCOPE,
}
_KINDS = {kind: wire.Warning.Kind.Name(wire.Warning.Kind.Value(f"KIND_{kind.name}")) for kind in Kind}


@dataclass(frozen=True)
class Replies:
    """Makes replies; `models` names those behind the roles, `settings_sha256` what shapes answers."""

    models: Callable[[], Iterable[Model]]
    settings_sha256: str

    def search(self, evidence: Evidence, stages: Iterable[StageTime]) -> wire.SearchResponse:
        """The evidence, best first."""
        return wire.SearchResponse(
            outcome=_OUTCOMES[evidence.outcome],
            ranked_parents=_ranked(evidence.passages),
            warnings=_warnings(evidence.warnings),
            stages=_stages(stages),
            manifest=self._manifest(evidence, ""),
            request_id=call.current().request_id,
        )

    def prompt(self, prompted: Prompted, stages: Iterable[StageTime]) -> wire.PromptResponse:
        """The prompt and what stands behind it."""
        evidence, text = prompted.evidence, prompted.prompt.text if prompted.prompt else ""
        return wire.PromptResponse(
            query=evidence.question.text,
            prompt=text,
            ranked_parents=_ranked(evidence.passages),
            outcome=_OUTCOMES[evidence.outcome],
            message=prompted.message,
            warnings=_warnings(evidence.warnings),
            stages=_stages(stages),
            manifest=self._manifest(evidence, text),
            request_id=call.current().request_id,
        )

    def answer(self, text: str, finish: Finish, stages: Iterable[StageTime]) -> wire.GenerateResponse:
        """A whole answer: the same facts as a streamed one's frames."""
        return wire.GenerateResponse(
            outcome=_OUTCOMES[finish.outcome],
            text=text,
            citations=[_citation(one) for one in finish.citations],
            ranked_parents=_ranked(finish.evidence.passages),
            warnings=_warnings(finish.warnings),
            stages=_stages(stages),
            manifest=self._manifest(finish.evidence, finish.prompt),
            usage=_usage(finish.usage),
            truncated=finish.truncated,
            reason=finish.reason,
            request_id=call.current().request_id,
        )

    def finish(self, finish: Finish, stages: Iterable[StageTime]) -> wire.GenerateStreamResponse:
        """The last frame of a streamed answer."""
        frame = wire.Finish(
            outcome=_OUTCOMES[finish.outcome],
            reason=finish.reason,
            truncated=finish.truncated,
            error=_error(finish.error) if finish.error else None,
            citations=[_citation(one) for one in finish.citations],
            warnings=_warnings(finish.warnings),
            stages=_stages(stages),
            manifest=self._manifest(finish.evidence, finish.prompt),
            usage=_usage(finish.usage),
        )
        return wire.GenerateStreamResponse(finish=frame)

    def _manifest(self, evidence: Evidence, prompt: str) -> wire.Manifest:
        documents = (one.document for one in evidence.passages)
        return wire.Manifest(
            models=[model(one) for one in self._used(evidence)],
            prompt_sha256=hashlib.sha256(prompt.encode()).hexdigest() if prompt else "",
            index_generation=evidence.generation,
            index_revision=evidence.revision,
            document_versions=dict.fromkeys(f"{one.document_id}@{one.version}" for one in documents),
            settings_sha256=self.settings_sha256,
            as_of=evidence.question.as_of.isoformat(),
        )

    def _used(self, evidence: Evidence) -> Iterator[Model]:
        """The models behind this reply: none that was missing, and the embedder that made the index."""
        for one in self.models():
            if one.role == "embedder" and evidence.embedder:
                yield Model(one.role, evidence.embedder, evidence.embedder_sha256)
            elif not evidence.lacks(one.role):
                yield one


def sources(event: Sources) -> wire.GenerateStreamResponse:
    """The first frame of a streamed answer."""
    ranked = wire.Sources(ranked_parents=_ranked(event.passages), request_id=call.current().request_id)
    return wire.GenerateStreamResponse(sources=ranked)


def model(one: Model) -> wire.Model:
    """A model behind a role."""
    return wire.Model(role=one.role, name=one.name, weights_sha256=one.weights_sha256)


# As mappings: a message within a message would be made first, and then copied.
Fields = dict[str, Any]


def _ranked(passages: Iterable[Passage]) -> list[Fields]:
    return [_parent(rank, passage) for rank, passage in enumerate(passages, 1)]


def _parent(rank: int, passage: Passage) -> Fields:
    return {
        "rank": rank,
        "parent_id": passage.parent_id,
        "document": vars(passage.document),
        "heading_path": passage.heading_path,
        "text": passage.text,
        "context": passage.context,
        "start": passage.start,
        "end": passage.end,
        "pages": passage.pages,
        "children": [_child(child) for child in passage.children],
        "scores": _scores(passage.scores),
    }


def _child(child: MatchedChild) -> Fields:
    return {
        "child_id": child.child_id,
        "start": child.start,
        "end": child.end,
        "scores": _scores(child.scores),
    }


def _scores(scores: Scores) -> Fields:
    return {kind: value for kind, value in vars(scores).items() if value is not None}


def _citation(citation: Citation) -> wire.Citation:
    passage = citation.passage
    return wire.Citation(
        marker=citation.marker,
        text_start=citation.text_start,
        text_end=citation.text_end,
        parent_id=passage.parent_id,
        document_id=passage.document.document_id,
        document_version=passage.document.version,
        start=citation.start,
        end=citation.end,
        quote=citation.quote,
        verified=citation.verified,
        pages=passage.pages,
    )


def _warnings(warnings: Iterable[Notice]) -> list[wire.Warning]:
    return [_warning(one) for one in warnings]


def _warning(warning: Notice) -> wire.Warning:
    frame = wire.Warning(kind=_KINDS[warning.kind], detail=warning.detail)
    if warning.span:
        frame.text_start, frame.text_end = warning.span
    return frame


def _stages(stages: Iterable[StageTime]) -> list[Fields]:
    return [
        {
            "name": one.name,
            "start": _duration(one.start),
            "duration": _duration(one.duration),
            "outcome": one.outcome,
        }
        for one in sorted(stages, key=attrgetter("start"))
    ]


def _usage(usage: Usage) -> wire.Usage:
    return wire.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        first_token_model=_duration(usage.first_token_model),
        first_token_caller=_duration(usage.first_token_caller),
    )


def _error(error: RadragError) -> wire.Error:
    return wire.Error(code=error.code.value[0], reason=error.reason, message=error.message)


def _duration(seconds: float | None) -> Duration | None:
    return None if seconds is None else Duration(seconds=int(seconds), nanos=int(seconds % 1 * 1e9))
