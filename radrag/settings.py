"""Every setting of every process, in one table: the fields of `Settings`.

The variable's name is RADRAG_ and the field's name in capitals. Only `__main__` modules and the command line
read them; everything else is given plain values.
"""

import difflib
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

TOPICS = ("safety", "physics", "regulation", "anatomy", "reference_values", "terminology", "templates")


class SettingError(ValueError):
    """A setting is unknown or has a value its type or range does not allow; the message names it."""


def _setting(default: object, processes: str, meaning: str) -> Any:
    return field(default=default, metadata={"processes": processes, "meaning": meaning})


@dataclass(frozen=True)
class Settings:
    """The settings of one process, read once at its start."""

    home: Path = _setting(Path("var"), "all", "Where run-time state lives: index, pid files, logs.")
    reflection: bool = _setting(False, "all", "Serve gRPC reflection.")
    metrics_host: str = _setting("127.0.0.1", "all", "Address the metrics port binds to.")
    drain_seconds: float = _setting(10.0, "all", "How long running calls may take to end on SIGTERM.")
    max_in_flight: int = _setting(64, "all", "Calls of one method running at once; more wait in line.")
    max_waiting: int = _setting(64, "all", "Calls of one method in line; one more is refused.")
    rate_per_second: float = _setting(0.0, "all", "Calls a second of one caller and process; 0: no limit.")
    rate_burst: int = _setting(20, "all", "Calls of one caller in one go, before the rate counts.")
    quota_per_day: int = _setting(0, "all", "Calls a day (UTC) of one caller and process; 0: no limit.")

    insecure_dev: bool = _setting(
        False, "all", "Let everybody in with every role, for a trial on loopback addresses; else never."
    )
    callers_file: str = _setting(
        "", "gateway retrieval ingest", "JSON file of callers: hashed API keys, names of client certificates."
    )
    jwt_issuer: str = _setting("", "gateway retrieval ingest", "Issuer (iss) whose bearer tokens are taken.")
    jwt_audience: str = _setting("", "gateway retrieval ingest", "Audience (aud) a token must be for.")
    jwt_jwks: str = _setting(
        "",
        "gateway retrieval ingest",
        "File or https URL of the issuer's keys; empty: as its OpenID configuration says.",
    )
    jwt_leeway_seconds: float = _setting(
        30.0, "gateway retrieval ingest", "Clock skew forgiven in a token's times."
    )
    tls_cert_file: str = _setting("", "all", "PEM chain this process shows, read again when it changes.")
    tls_key_file: str = _setting("", "all", "Its private key.")
    tls_client_ca_file: str = _setting(
        "", "gateway retrieval ingest", "CA whose certificates every client must show (mutual TLS)."
    )
    tls_ca_file: str = _setting("", "all", "CA of our other services; set, they are called over TLS.")
    models_ca_file: str = _setting(
        "",
        "gateway ingest cli",
        "CA of the model servers; set, they are called over TLS, with our certificate.",
    )
    tls_terminated: bool = _setting(
        False, "all", "A proxy or mesh ends TLS: plaintext is taken beyond loopback."
    )
    credential_file: str = _setting(
        "", "all", "File with the API key or token shown to our other services, read again when it changes."
    )

    log_format: str = _setting("auto", "all", "Log lines: json, pretty, or auto (pretty on a terminal).")
    audit: str = _setting(
        "on",
        "gateway ingest cli",
        "Audit trail: off; on; required (a call whose record cannot be written fails).",
    )
    audit_sync: str = _setting(
        "always",
        "gateway ingest cli",
        "When records are synced to the disk: always (before a call ends), second, never.",
    )
    audit_heads: Path = _setting(
        Path("var/audit/heads"), "gateway ingest cli", "Folder of the signed heads, to be copied elsewhere."
    )
    audit_head_every: int = _setting(
        100, "gateway ingest cli", "Records after which a head is signed; one is at every stop."
    )
    audit_key_file: Path = _setting(
        Path("var/audit/key.pem"), "gateway ingest cli", "Ed25519 key that signs heads; made where missing."
    )
    audit_content: bool = _setting(
        False, "gateway ingest cli", "Keep questions and answers in the audit trail as they are."
    )

    gateway_address: str = _setting("127.0.0.1:50051", "gateway cli", "Where the gateway listens.")
    retrieval_address: str = _setting("127.0.0.1:50052", "retrieval gateway cli", "Where retrieval listens.")
    ingest_address: str = _setting(
        "127.0.0.1:50053", "ingest gateway cli", "Where ingest listens; the gateway hands ratings to it."
    )
    http_address: str = _setting(
        "", "gateway cli", "Where the gateway serves HTTP: REST and the console; empty: nowhere."
    )

    embedder_url: str = _setting(
        "127.0.0.1:8001", "gateway ingest cli", "gRPC address of the embedder's Triton."
    )
    embedder_model: str = _setting("e5_small", "gateway ingest cli", "Model behind the embedder role.")
    reranker_url: str = _setting("127.0.0.1:8001", "gateway cli", "gRPC address of the reranker's Triton.")
    reranker_model: str = _setting(
        "lexical_late_interaction", "gateway cli", "Model behind the reranker role."
    )
    generator_url: str = _setting("127.0.0.1:8001", "gateway cli", "gRPC address of the generator's Triton.")
    generator_model: str = _setting("extractive", "gateway cli", "Model behind the generator role.")
    generator_template: str = _setting(
        "plain", "gateway", "How the prompt is rendered for Triton: plain, chatml, chatml_instruct, gemma."
    )
    generator_kind: str = _setting(
        "triton", "gateway", "Where the generator is: triton, or openai (any server with that API)."
    )
    openai_url: str = _setting(
        "http://127.0.0.1:8000/v1", "gateway", "The OpenAI-compatible server, up to and with /v1."
    )
    openai_model: str = _setting("", "gateway", "The model's name as that server lists it.")
    openai_api_key_file: str = _setting("", "gateway", "File with that server's API key.")
    openai_body: str = _setting(
        '{"chat_template_kwargs": {"enable_thinking": false}}',
        "gateway",
        "JSON object sent there beside the prompt and sampling; the default keeps Qwen3 from thinking.",
    )
    models: Path = _setting(
        Path("/models"), "cli", "Folder of model weights; the model servers read them from there too."
    )

    embed_seconds: float = _setting(5.0, "gateway", "Longest an embedding may take.")
    search_seconds: float = _setting(5.0, "gateway", "Longest a search may take.")
    rerank_seconds: float = _setting(20.0, "gateway", "Longest a reranking may take.")
    generate_seconds: float = _setting(120.0, "gateway", "Longest a generation may take.")

    breaker_failures: int = _setting(
        5, "gateway", "Failures in a row after which a model server is left alone for a while; 0: never."
    )
    breaker_seconds: float = _setting(5.0, "gateway", "How long it is left alone before one call tries it.")
    hedge_embed_seconds: float = _setting(
        0.0, "gateway", "An embedding later than this is asked for a second time; 0: never."
    )
    model_patience_seconds: float = _setting(
        60.0, "gateway", "How long after its start a missing model keeps the gateway from being ready."
    )
    children_per_topic: int = _setting(15, "gateway", "Children taken from each topic's collection.")
    children: int = _setting(90, "gateway", "Children kept over all topics.")
    candidates: int = _setting(13, "gateway", "Best children whose parents are reranked.")
    sources: int = _setting(5, "gateway", "Parents put into the prompt.")
    max_question_characters: int = _setting(2000, "gateway", "Longest question in characters.")
    thresholds: Path = _setting(
        Path("gateway/thresholds.json"),
        "gateway",
        "Evidence thresholds by reranker model, with their data's hash.",
    )
    messages: Path = _setting(
        Path("gateway/messages.json"), "gateway", "Fixed texts of refusals, by language."
    )
    scope: Path = _setting(
        Path("gateway/scope.yaml"),
        "gateway",
        "Gates: what is not ours to answer, and what is said then.",
    )
    prompt_characters: int = _setting(
        60_000, "gateway", "Characters of sources in a prompt; whole sources are left out beyond it."
    )
    unsupported: str = _setting(
        "flag", "gateway", "What happens to unsupported sentences: flag, drop, refuse."
    )
    temperature: float = _setting(0.1, "gateway", "Sampling temperature, 0 to 2.")
    top_p: float = _setting(0.9, "gateway", "Nucleus sampling, above 0 to 1.")
    max_tokens: int = _setting(512, "gateway", "Tokens the generator may write, 1 to 2048.")
    seed: int = _setting(20261201, "gateway", "Sampling seed, so that an answer can be replayed.")
    query_cache: int = _setting(1024, "gateway", "Question vectors kept; 0 switches the cache off.")

    topics: tuple[str, ...] = _setting(
        TOPICS, "retrieval gateway ingest cli", "The topics, each ^[a-z_]{1,40}$."
    )
    store: str = _setting("edge", "retrieval", "Vector store: edge (in process) or server (Qdrant by URL).")
    index_path: Path = _setting(
        Path("var/index"), "retrieval", "Folder of the live-version table and the edge store."
    )
    vector_compression: str = _setting(
        "none",
        "retrieval",
        "Copies of vectors that the edge store compares first: none, int8, or binary (for 1,000 numbers and "
        "more); the best are compared in full.",
    )
    versions_url: str = _setting(
        "", "retrieval", "SQLAlchemy URL of the live-version table; empty: SQLite below index_path."
    )
    qdrant_url: str = _setting("", "retrieval", "Address of the Qdrant server.")
    qdrant_api_key_file: str = _setting("", "retrieval", "File with the Qdrant server's API key.")
    qdrant_ca_file: str = _setting(
        "",
        "retrieval",
        "CA of the Qdrant server, where the system does not know it; our certificate is shown.",
    )
    qdrant_snapshot_hours: float = _setting(
        0.0, "retrieval", "Hours between snapshots of each collection on the Qdrant server; 0: none."
    )
    qdrant_snapshots_kept: int = _setting(7, "retrieval", "Newest snapshots kept of a collection and node.")
    qdrant_node_urls: tuple[str, ...] = _setting(
        (), "retrieval", "Each node of a Qdrant cluster, for snapshots; empty: RADRAG_QDRANT_URL alone."
    )
    qdrant_shards: int = _setting(1, "retrieval", "Shards of a collection on the Qdrant server.")
    qdrant_replicas: int = _setting(1, "retrieval", "Replicas of a shard on the Qdrant server.")
    fusion: str = _setting("global", "retrieval", "Fusion across topics: global or per_collection.")
    rrf_k: int = _setting(60, "retrieval", "k of reciprocal rank fusion.")
    dense_weight: float = _setting(1.0, "retrieval", "Weight of the dense leg, 0 and up.")
    bm25_weight: float = _setting(1.0, "retrieval", "Weight of the BM25 leg, 0 and up.")
    language_share: int = _setting(
        4, "retrieval", "Places among the reranked parents that each language of the index has at least."
    )
    bm25_k1: float = _setting(1.2, "retrieval", "BM25: how soon a repeated word stops counting, above 0.")
    bm25_b: float = _setting(0.75, "retrieval", "BM25: how much a passage's length counts, 0 to 1.")
    bm25_avg_len: float = _setting(
        128.0, "retrieval", "BM25: mean length of a child in words after stop words, above 0."
    )

    embedder_tokenizer: Path = _setting(
        Path("model_repository/e5_small/1/tokenizer.json"),
        "ingest cli",
        "The embedder's tokenizer; limits.json beside it.",
    )
    max_parent_tokens: int = _setting(1800, "ingest", "Largest parent in tokens.")
    max_child_tokens: int = _setting(
        512, "ingest", "Largest child in tokens; the embedder's window may lower it."
    )
    min_child_characters: int = _setting(
        900, "ingest", "Smallest child in characters, where the token limit allows."
    )
    noise_threshold: float = _setting(
        0.5, "ingest", "Score from which a child is noise and not searched; above 1 none is."
    )
    chunking: str = _setting(
        "parent_child", "ingest", "How documents are cut: parent_child; to compare: fixed, recursive."
    )
    catalogue_url: str = _setting(
        "",
        "ingest cli",
        "SQLAlchemy URL of the document catalogue; empty: catalogue.db (SQLite) in the home.",
    )
    two_person_review: bool = _setting(
        False, "ingest cli", "Two different people must approve a version before it is published."
    )
    ingest_jobs: int = _setting(2, "ingest", "Documents handed in that are read or published at once.")
    embed_concurrency: int = _setting(4, "ingest", "Parents embedded at once.")
    max_file_megabytes: int = _setting(100, "ingest", "Largest file.")
    parse_seconds: float = _setting(
        300.0, "ingest", "Longest a file may be parsed without another page by OCR or another window done."
    )
    parse_megabytes: int = _setting(4000, "ingest", "Memory that parsing one file may take.")
    parse_files_each: int = _setting(50, "ingest", "Files after which the process that parses is replaced.")
    parse_window: int = _setting(50, "ingest", "Pages of a PDF in work at once.")
    ocr_engines: tuple[str, ...] = _setting(
        ("tesseract",),
        "ingest",
        "OCR engines: tesseract, easyocr, vision; the next reads what the one before was unsure of.",
    )
    ocr_languages: tuple[str, ...] = _setting(
        ("rus", "eng"), "ingest", "Languages of scans, as Tesseract names them."
    )
    ocr_least_confidence: float = _setting(
        0.85, "ingest", "Below it the next engine reads the page, and the document is flagged; 0 to 1."
    )
    ocr_seconds: float = _setting(120.0, "ingest", "Longest one engine may take over a page.")
    easyocr_models: str = _setting("", "ingest", "Folder with EasyOCR's weights (*.pth).")
    vision_url: str = _setting(
        "", "ingest", "OpenAI-compatible server of a vision model that reads pages, up to and with /v1."
    )
    vision_model: str = _setting("", "ingest", "Its name there, as deepseek-ai/DeepSeek-OCR.")
    vision_prompt: str = _setting(
        "<|grounding|>Convert the document to markdown. ", "ingest", "What the vision model is asked."
    )
    vision_api_key_file: str = _setting("", "ingest", "File with that server's API key.")
    docling_artifacts: str = _setting(
        "", "ingest", "Folder with the weights of Docling's layout and table models; empty: rules."
    )
    docling_layout_url: str = _setting(
        "", "ingest", "KServe v2 server (host:port, gRPC) with Docling's layout model, named layout."
    )

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Settings":
        """Reads RADRAG_* variables. Raises SettingError for an unknown name or a bad value."""
        known = {variable(one): one for one in fields(cls)}
        given = {name: text for name, text in environ.items() if name.startswith("RADRAG_")}
        hints = get_type_hints(cls)
        values: dict[str, Any] = {}
        for name, text in given.items():
            if name in known:
                values[known[name].name] = _parsed(name, text, hints[known[name].name])
            elif not name.startswith("RADRAG_TEST_"):
                raise SettingError(_unknown(name, list(known)))
        return cls(**values)


def variable(one: "Field[Any]") -> str:
    """The environment variable of a field."""
    return f"RADRAG_{one.name.upper()}"


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"{name} is not a setting" + (f"; did you mean {near[0]}?" if near else "")


def _parsed(name: str, text: str, kind: Any) -> object:
    if kind is bool:
        if text.lower() not in {"true", "false", "1", "0"}:
            raise SettingError(f"{name} must be true or false")
        return text.lower() in {"true", "1"}
    if kind == tuple[str, ...]:
        return tuple(part for part in text.replace(",", " ").split() if part)
    try:
        return kind(text)
    except ValueError:
        raise SettingError(f"{name} must be of type {kind.__name__}") from None
