"""Settings of the answer path: addresses, models, limits in time and number, prompt and sampling."""

from dataclasses import dataclass
from pathlib import Path

from radrag.settings.one import setting


@dataclass(frozen=True)
class AnswerSettings:
    """How a question is answered."""

    gateway_address: str = setting("127.0.0.1:50051", "gateway cli", "Where the gateway listens.")
    retrieval_address: str = setting("127.0.0.1:50052", "retrieval gateway cli", "Where retrieval listens.")
    ingest_address: str = setting(
        "127.0.0.1:50053", "ingest gateway cli", "Where ingest listens; the gateway hands ratings to it."
    )
    http_address: str = setting(
        "", "gateway cli", "Where the gateway serves HTTP: REST and the console; empty: nowhere."
    )

    embedder_url: str = setting(
        "127.0.0.1:8001", "gateway ingest cli", "gRPC address of the embedder's Triton."
    )
    embedder_model: str = setting("e5_small", "gateway ingest cli", "Model behind the embedder role.")
    reranker_url: str = setting("127.0.0.1:8001", "gateway cli", "gRPC address of the reranker's Triton.")
    reranker_model: str = setting(
        "lexical_late_interaction", "gateway cli", "Model behind the reranker role."
    )
    generator_url: str = setting("127.0.0.1:8001", "gateway cli", "gRPC address of the generator's Triton.")
    generator_model: str = setting("extractive", "gateway cli", "Model behind the generator role.")
    generator_template: str = setting(
        "plain", "gateway", "How the prompt is rendered for Triton: plain, chatml, chatml_instruct, gemma."
    )
    generator_kind: str = setting(
        "triton", "gateway", "Where the generator is: triton, or openai (any server with that API)."
    )
    openai_url: str = setting(
        "http://127.0.0.1:8000/v1", "gateway", "The OpenAI-compatible server, up to and with /v1."
    )
    openai_model: str = setting("", "gateway", "The model's name as that server lists it.")
    openai_api_key_file: str = setting("", "gateway", "File with that server's API key.")
    openai_body: str = setting(
        '{"chat_template_kwargs": {"enable_thinking": false}}',
        "gateway",
        "JSON object sent there beside the prompt and sampling; the default keeps Qwen3 from thinking.",
    )
    models: Path = setting(
        Path("/models"), "cli", "Folder of model weights; the model servers read them from there too."
    )

    embed_seconds: float = setting(5.0, "gateway", "Longest an embedding may take.")
    search_seconds: float = setting(5.0, "gateway", "Longest a search may take.")
    rerank_seconds: float = setting(20.0, "gateway", "Longest a reranking may take.")
    generate_seconds: float = setting(120.0, "gateway", "Longest a generation may take.")

    breaker_failures: int = setting(
        5, "gateway", "Failures in a row after which a model server is left alone for a while; 0: never."
    )
    breaker_seconds: float = setting(5.0, "gateway", "How long it is left alone before one call tries it.")
    hedge_embed_seconds: float = setting(
        0.0, "gateway", "An embedding later than this is asked for a second time; 0: never."
    )
    model_patience_seconds: float = setting(
        60.0, "gateway", "How long after its start a missing model keeps the gateway from being ready."
    )
    children_per_topic: int = setting(15, "gateway", "Children taken from each topic's collection.")
    children: int = setting(90, "gateway", "Children kept over all topics.")
    candidates: int = setting(13, "gateway", "Best children whose parents are reranked.")
    sources: int = setting(5, "gateway", "Parents put into the prompt.")
    max_question_characters: int = setting(2000, "gateway", "Longest question in characters.")
    thresholds: Path = setting(
        Path("gateway/thresholds.json"),
        "gateway",
        "Evidence thresholds by reranker model, with their data's hash.",
    )
    messages: Path = setting(
        Path("gateway/messages.json"), "gateway", "Fixed texts of refusals, by language."
    )
    scope: Path = setting(
        Path("gateway/scope.yaml"),
        "gateway",
        "Gates: what is not ours to answer, and what is said then.",
    )
    prompt_characters: int = setting(
        60_000, "gateway", "Characters of sources in a prompt; whole sources are left out beyond it."
    )
    unsupported: str = setting(
        "flag", "gateway", "What happens to unsupported sentences: flag, drop, refuse."
    )
    temperature: float = setting(0.1, "gateway", "Sampling temperature, 0 to 2.")
    top_p: float = setting(0.9, "gateway", "Nucleus sampling, above 0 to 1.")
    max_tokens: int = setting(512, "gateway", "Tokens the generator may write, 1 to 2048.")
    seed: int = setting(20261201, "gateway", "Sampling seed, so that an answer can be replayed.")
    query_cache: int = setting(1024, "gateway", "Question vectors kept; 0 switches the cache off.")
