"""Settings of the knowledge base: topics, index, fusion, chunking, catalogue, reading."""

from dataclasses import dataclass
from pathlib import Path

from radrag.settings.one import TOPICS, setting


@dataclass(frozen=True)
class KnowledgeSettings:
    """How documents are read, cut, kept and found."""

    topics: tuple[str, ...] = setting(
        TOPICS, "retrieval gateway ingest cli", "The topics, each ^[a-z_]{1,40}$."
    )
    store: str = setting("edge", "retrieval", "Vector store: edge (in process) or server (Qdrant by URL).")
    index_path: Path = setting(
        Path("var/index"), "retrieval", "Folder of the live-version table and the edge store."
    )
    vector_compression: str = setting(
        "none",
        "retrieval",
        "Copies of vectors that are compared first: none, int8, or binary (for 1,000 numbers and more); the "
        "best are compared in full. On a Qdrant server those of collections made from then on.",
    )
    versions_url: str = setting(
        "", "retrieval", "SQLAlchemy URL of the live-version table; empty: SQLite below index_path."
    )
    qdrant_url: str = setting("", "retrieval", "Address of the Qdrant server.")
    qdrant_api_key_file: str = setting("", "retrieval", "File with the Qdrant server's API key.")
    qdrant_ca_file: str = setting(
        "",
        "retrieval",
        "CA of the Qdrant server, where the system does not know it; our certificate is shown.",
    )
    qdrant_snapshot_hours: float = setting(
        0.0, "retrieval", "Hours between snapshots of each collection on the Qdrant server; 0: none."
    )
    qdrant_snapshots_kept: int = setting(7, "retrieval", "Newest snapshots kept of a collection and node.")
    qdrant_node_urls: tuple[str, ...] = setting(
        (), "retrieval", "Each node of a Qdrant cluster, for snapshots; empty: RADRAG_QDRANT_URL alone."
    )
    qdrant_shards: int = setting(1, "retrieval", "Shards of a collection on the Qdrant server.")
    qdrant_replicas: int = setting(1, "retrieval", "Replicas of a shard on the Qdrant server.")
    fusion: str = setting("global", "retrieval", "Fusion across topics: global or per_collection.")
    rrf_k: int = setting(60, "retrieval", "k of reciprocal rank fusion.")
    dense_weight: float = setting(1.0, "retrieval", "Weight of the dense leg, 0 and up.")
    bm25_weight: float = setting(1.0, "retrieval", "Weight of the BM25 leg, 0 and up.")
    language_share: int = setting(
        4, "retrieval", "Places among the reranked parents that each language of the index has at least."
    )
    bm25_k1: float = setting(1.2, "retrieval", "BM25: how soon a repeated word stops counting, above 0.")
    bm25_b: float = setting(0.75, "retrieval", "BM25: how much a passage's length counts, 0 to 1.")
    bm25_avg_len: float = setting(
        128.0, "retrieval", "BM25: mean length of a child in words after stop words, above 0."
    )

    embedder_tokenizer: Path = setting(
        Path("model_repository/e5_small/1/tokenizer.json"),
        "ingest cli",
        "The embedder's tokenizer; limits.json beside it.",
    )
    max_parent_tokens: int = setting(1800, "ingest", "Largest parent in tokens.")
    max_child_tokens: int = setting(
        512, "ingest", "Largest child in tokens; the embedder's window may lower it."
    )
    min_child_characters: int = setting(
        900, "ingest", "Smallest child in characters, where the token limit allows."
    )
    noise_threshold: float = setting(
        0.5, "ingest", "Score from which a child is noise and not searched; above 1 none is."
    )
    chunking: str = setting(
        "parent_child", "ingest", "How documents are cut: parent_child; to compare: fixed, recursive."
    )
    catalogue_url: str = setting(
        "",
        "ingest cli",
        "SQLAlchemy URL of the document catalogue; empty: catalogue.db (SQLite) in the home.",
    )
    two_person_review: bool = setting(
        False, "ingest cli", "Two different people must approve a version before it is published."
    )
    ingest_jobs: int = setting(2, "ingest", "Documents handed in that are read or published at once.")
    embed_concurrency: int = setting(4, "ingest", "Parents embedded at once.")
    max_file_megabytes: int = setting(100, "ingest", "Largest file.")
    parse_seconds: float = setting(
        300.0, "ingest", "Longest a file may be parsed without another page by OCR or another window done."
    )
    parse_megabytes: int = setting(4000, "ingest", "Memory that parsing one file may take.")
    parse_files_each: int = setting(50, "ingest", "Files after which the process that parses is replaced.")
    parse_window: int = setting(50, "ingest", "Pages of a PDF in work at once.")
    ocr_engines: tuple[str, ...] = setting(
        ("tesseract",),
        "ingest",
        "OCR engines: tesseract, easyocr, vision; the next reads what the one before was unsure of.",
    )
    ocr_languages: tuple[str, ...] = setting(
        ("rus", "eng"), "ingest", "Languages of scans, as Tesseract names them."
    )
    ocr_least_confidence: float = setting(
        0.85, "ingest", "Below it the next engine reads the page, and the document is flagged; 0 to 1."
    )
    ocr_seconds: float = setting(120.0, "ingest", "Longest one engine may take over a page.")
    easyocr_models: str = setting("", "ingest", "Folder with EasyOCR's weights (*.pth).")
    vision_url: str = setting(
        "", "ingest", "OpenAI-compatible server of a vision model that reads pages, up to and with /v1."
    )
    vision_model: str = setting("", "ingest", "Its name there, as deepseek-ai/DeepSeek-OCR.")
    vision_prompt: str = setting(
        "<|grounding|>Convert the document to markdown. ", "ingest", "What the vision model is asked."
    )
    vision_api_key_file: str = setting("", "ingest", "File with that server's API key.")
    docling_artifacts: str = setting(
        "", "ingest", "Folder with the weights of Docling's layout and table models; empty: rules."
    )
    docling_layout_url: str = setting(
        "", "ingest", "KServe v2 server (host:port, gRPC) with Docling's layout model, named layout."
    )
