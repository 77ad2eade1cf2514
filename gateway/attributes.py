"""Attributes of the stages' spans, by the semantic conventions for gen_ai."""

Attributes = dict[str, str | int | float]


def model(name: str, operation: str, provider: str = "triton") -> Attributes:
    """Of a model call; the conventions know no reranking and no Triton, so that those names are ours."""
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.request.model": name,
        "gen_ai.provider.name": provider,
    }


def generation(kind: str, name: str, *, temperature: float, top_p: float, max_tokens: int) -> Attributes:
    """Of a generator of the `kind` triton or openai."""
    return {
        **model(name, "text_completion", kind),
        "gen_ai.request.temperature": temperature,
        "gen_ai.request.top_p": top_p,
        "gen_ai.request.max_tokens": max_tokens,
    }
