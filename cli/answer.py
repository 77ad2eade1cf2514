"""How replies look to people: the answer, its sources, its warnings, and where the time went."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias, cast

from cli.terminal import Terminal
from radrag.assistant.v1 import assistant_pb2 as pb

Reply: TypeAlias = pb.GenerateResponse | pb.Finish | pb.SearchResponse | pb.PromptResponse
REFUSALS = {
    pb.OUTCOME_INSUFFICIENT_EVIDENCE: "insufficient evidence",
    pb.OUTCOME_OUT_OF_SCOPE: "out of scope",
}
EXCERPT = 240  # characters of a source shown by `search`


def outcome(screen: Terminal, value: pb.Outcome) -> None:
    """A line for a refusal; an answer needs none."""
    if value in REFUSALS:
        screen.text(REFUSALS[value], style="bold yellow")


def sources(
    screen: Terminal, parents: Sequence[pb.RankedParent], citations: Sequence[pb.Citation] = ()
) -> None:
    """The numbered sources; a cited one says whether its quotes were verified."""
    if parents:
        screen.text()
        screen.text("Sources", style="bold")
    for parent in parents:
        cited = [one for one in citations if one.marker == parent.rank]
        screen.text(f"[{parent.rank}] {_place(parent)}{_check(cited)}", indent=2)
        if parent.document.source_uri:
            screen.text(parent.document.source_uri, style="dim", indent=6)


def _place(parent: pb.RankedParent) -> str:
    document = parent.document
    path = " › ".join((document.title, *parent.heading_path))
    facts = [document.topic, document.language, f"{document.document_id}@{document.version[:8]}"]
    if parent.pages:
        facts.append("p. " + ", ".join(str(page) for page in parent.pages))
    return f"{path} ({'; '.join(fact for fact in facts if fact)})"


def _check(cited: Sequence[pb.Citation]) -> str:
    if not cited:
        return ""
    return " ✓ verified" if all(one.verified for one in cited) else " ✗ not verified"


def passages(screen: Terminal, parents: Sequence[pb.RankedParent]) -> None:
    """The evidence of a search: place, scores, the beginning of the text."""
    for parent in parents:
        screen.text(f"[{parent.rank}] {_place(parent)}", style="bold")
        screen.text(_scores(parent.scores), style="dim", indent=4)
        screen.text(_excerpt(parent.text), indent=4)
        screen.text()


def _scores(scores: pb.Scores) -> str:
    names = ("rerank", "fused", "dense", "bm25")
    return "  ".join(f"{name} {getattr(scores, name):.4g}" for name in names if scores.HasField(name))


def _excerpt(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= EXCERPT else words[:EXCERPT].rsplit(" ", 1)[0] + " …"


def warnings(screen: Terminal, reply: Reply) -> None:
    """One line per warning."""
    # To mypy the stub's field is of the builtin of that name.
    for warning in cast(Iterable[pb.Warning], reply.warnings):
        kind = pb.Warning.Kind.Name(warning.kind).removeprefix("KIND_").lower().replace("_", " ")
        screen.text(f"warning: {kind}" + (f" ({warning.detail})" if warning.detail else ""), style="yellow")


def stages(screen: Terminal, given: Sequence[pb.Stage]) -> None:
    """The stage-time table, in milliseconds since the call's start."""
    rows = [
        (
            stage.name,
            f"{stage.start.ToNanoseconds() / 1e6:.1f}",
            f"{stage.duration.ToNanoseconds() / 1e6:.1f}",
            stage.outcome,
        )
        for stage in given
    ]
    screen.text()
    screen.table(("stage", "start ms", "duration ms", "outcome"), rows)
