from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class QueryEmbedder(_message.Message):
    __slots__ = ("name", "weights_sha256", "dimension")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    weights_sha256: str
    dimension: int
    def __init__(self, name: _Optional[str] = ..., weights_sha256: _Optional[str] = ..., dimension: _Optional[int] = ...) -> None: ...

class Fingerprint(_message.Message):
    __slots__ = ("embedder", "normalized", "pooling", "query_prefix", "document_prefix", "tokenizer_sha256", "chunking", "max_parent_tokens", "max_child_tokens", "min_child_characters")
    EMBEDDER_FIELD_NUMBER: _ClassVar[int]
    NORMALIZED_FIELD_NUMBER: _ClassVar[int]
    POOLING_FIELD_NUMBER: _ClassVar[int]
    QUERY_PREFIX_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_PREFIX_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_SHA256_FIELD_NUMBER: _ClassVar[int]
    CHUNKING_FIELD_NUMBER: _ClassVar[int]
    MAX_PARENT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_CHILD_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MIN_CHILD_CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    embedder: QueryEmbedder
    normalized: bool
    pooling: str
    query_prefix: str
    document_prefix: str
    tokenizer_sha256: str
    chunking: str
    max_parent_tokens: int
    max_child_tokens: int
    min_child_characters: int
    def __init__(self, embedder: _Optional[_Union[QueryEmbedder, _Mapping]] = ..., normalized: _Optional[bool] = ..., pooling: _Optional[str] = ..., query_prefix: _Optional[str] = ..., document_prefix: _Optional[str] = ..., tokenizer_sha256: _Optional[str] = ..., chunking: _Optional[str] = ..., max_parent_tokens: _Optional[int] = ..., max_child_tokens: _Optional[int] = ..., min_child_characters: _Optional[int] = ...) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("question", "vector", "embedder", "generation", "topics", "languages", "categories", "document_ids", "as_of_day", "children_per_topic", "children", "parents")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    EMBEDDER_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    CATEGORIES_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    AS_OF_DAY_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_PER_TOPIC_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    PARENTS_FIELD_NUMBER: _ClassVar[int]
    question: str
    vector: _containers.RepeatedScalarFieldContainer[float]
    embedder: QueryEmbedder
    generation: str
    topics: _containers.RepeatedScalarFieldContainer[str]
    languages: _containers.RepeatedScalarFieldContainer[str]
    categories: _containers.RepeatedScalarFieldContainer[str]
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    as_of_day: int
    children_per_topic: int
    children: int
    parents: int
    def __init__(self, question: _Optional[str] = ..., vector: _Optional[_Iterable[float]] = ..., embedder: _Optional[_Union[QueryEmbedder, _Mapping]] = ..., generation: _Optional[str] = ..., topics: _Optional[_Iterable[str]] = ..., languages: _Optional[_Iterable[str]] = ..., categories: _Optional[_Iterable[str]] = ..., document_ids: _Optional[_Iterable[str]] = ..., as_of_day: _Optional[int] = ..., children_per_topic: _Optional[int] = ..., children: _Optional[int] = ..., parents: _Optional[int] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("parents", "missing_legs", "generation", "revision")
    PARENTS_FIELD_NUMBER: _ClassVar[int]
    MISSING_LEGS_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    parents: _containers.RepeatedCompositeFieldContainer[FoundParent]
    missing_legs: _containers.RepeatedScalarFieldContainer[str]
    generation: str
    revision: int
    def __init__(self, parents: _Optional[_Iterable[_Union[FoundParent, _Mapping]]] = ..., missing_legs: _Optional[_Iterable[str]] = ..., generation: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class FoundParent(_message.Message):
    __slots__ = ("parent", "document", "children")
    PARENT_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    parent: Parent
    document: Document
    children: _containers.RepeatedCompositeFieldContainer[FoundChild]
    def __init__(self, parent: _Optional[_Union[Parent, _Mapping]] = ..., document: _Optional[_Union[Document, _Mapping]] = ..., children: _Optional[_Iterable[_Union[FoundChild, _Mapping]]] = ...) -> None: ...

class FoundChild(_message.Message):
    __slots__ = ("child_id", "start", "end", "dense", "bm25", "fused")
    CHILD_ID_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    DENSE_FIELD_NUMBER: _ClassVar[int]
    BM25_FIELD_NUMBER: _ClassVar[int]
    FUSED_FIELD_NUMBER: _ClassVar[int]
    child_id: str
    start: int
    end: int
    dense: float
    bm25: float
    fused: float
    def __init__(self, child_id: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., dense: _Optional[float] = ..., bm25: _Optional[float] = ..., fused: _Optional[float] = ...) -> None: ...

class Document(_message.Message):
    __slots__ = ("document_id", "version", "title", "source_uri", "topic", "category", "tier", "language", "access_labels", "valid_from", "valid_to", "text_sha256", "approved_by")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    ACCESS_LABELS_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_FIELD_NUMBER: _ClassVar[int]
    TEXT_SHA256_FIELD_NUMBER: _ClassVar[int]
    APPROVED_BY_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    version: str
    title: str
    source_uri: str
    topic: str
    category: str
    tier: int
    language: str
    access_labels: _containers.RepeatedScalarFieldContainer[str]
    valid_from: int
    valid_to: int
    text_sha256: str
    approved_by: str
    def __init__(self, document_id: _Optional[str] = ..., version: _Optional[str] = ..., title: _Optional[str] = ..., source_uri: _Optional[str] = ..., topic: _Optional[str] = ..., category: _Optional[str] = ..., tier: _Optional[int] = ..., language: _Optional[str] = ..., access_labels: _Optional[_Iterable[str]] = ..., valid_from: _Optional[int] = ..., valid_to: _Optional[int] = ..., text_sha256: _Optional[str] = ..., approved_by: _Optional[str] = ...) -> None: ...

class Parent(_message.Message):
    __slots__ = ("parent_id", "start", "end", "text", "heading_path", "context", "pages")
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    HEADING_PATH_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    PAGES_FIELD_NUMBER: _ClassVar[int]
    parent_id: str
    start: int
    end: int
    text: str
    heading_path: _containers.RepeatedScalarFieldContainer[str]
    context: str
    pages: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, parent_id: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., text: _Optional[str] = ..., heading_path: _Optional[_Iterable[str]] = ..., context: _Optional[str] = ..., pages: _Optional[_Iterable[int]] = ...) -> None: ...

class Child(_message.Message):
    __slots__ = ("child_id", "parent_id", "start", "end", "text", "context", "vector")
    CHILD_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    child_id: str
    parent_id: str
    start: int
    end: int
    text: str
    context: str
    vector: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, child_id: _Optional[str] = ..., parent_id: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., text: _Optional[str] = ..., context: _Optional[str] = ..., vector: _Optional[_Iterable[float]] = ...) -> None: ...

class IndexDocumentRequest(_message.Message):
    __slots__ = ("header", "passages")
    class Header(_message.Message):
        __slots__ = ("document", "fingerprint", "parents", "children", "generation")
        DOCUMENT_FIELD_NUMBER: _ClassVar[int]
        FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
        PARENTS_FIELD_NUMBER: _ClassVar[int]
        CHILDREN_FIELD_NUMBER: _ClassVar[int]
        GENERATION_FIELD_NUMBER: _ClassVar[int]
        document: Document
        fingerprint: Fingerprint
        parents: int
        children: int
        generation: str
        def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., fingerprint: _Optional[_Union[Fingerprint, _Mapping]] = ..., parents: _Optional[int] = ..., children: _Optional[int] = ..., generation: _Optional[str] = ...) -> None: ...
    class Passages(_message.Message):
        __slots__ = ("parents", "children")
        PARENTS_FIELD_NUMBER: _ClassVar[int]
        CHILDREN_FIELD_NUMBER: _ClassVar[int]
        parents: _containers.RepeatedCompositeFieldContainer[Parent]
        children: _containers.RepeatedCompositeFieldContainer[Child]
        def __init__(self, parents: _Optional[_Iterable[_Union[Parent, _Mapping]]] = ..., children: _Optional[_Iterable[_Union[Child, _Mapping]]] = ...) -> None: ...
    HEADER_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    header: IndexDocumentRequest.Header
    passages: IndexDocumentRequest.Passages
    def __init__(self, header: _Optional[_Union[IndexDocumentRequest.Header, _Mapping]] = ..., passages: _Optional[_Union[IndexDocumentRequest.Passages, _Mapping]] = ...) -> None: ...

class IndexDocumentResponse(_message.Message):
    __slots__ = ("changed", "revision", "superseded_version")
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_VERSION_FIELD_NUMBER: _ClassVar[int]
    changed: bool
    revision: int
    superseded_version: str
    def __init__(self, changed: _Optional[bool] = ..., revision: _Optional[int] = ..., superseded_version: _Optional[str] = ...) -> None: ...

class DeleteDocumentRequest(_message.Message):
    __slots__ = ("document_id", "version", "generation")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    version: str
    generation: str
    def __init__(self, document_id: _Optional[str] = ..., version: _Optional[str] = ..., generation: _Optional[str] = ...) -> None: ...

class DeleteDocumentResponse(_message.Message):
    __slots__ = ("versions", "revision")
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    versions: _containers.RepeatedScalarFieldContainer[str]
    revision: int
    def __init__(self, versions: _Optional[_Iterable[str]] = ..., revision: _Optional[int] = ...) -> None: ...

class RetireDocumentRequest(_message.Message):
    __slots__ = ("document_id", "version", "valid_to")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    version: str
    valid_to: int
    def __init__(self, document_id: _Optional[str] = ..., version: _Optional[str] = ..., valid_to: _Optional[int] = ...) -> None: ...

class RetireDocumentResponse(_message.Message):
    __slots__ = ("changed", "revision")
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    changed: bool
    revision: int
    def __init__(self, changed: _Optional[bool] = ..., revision: _Optional[int] = ...) -> None: ...

class ListVersionsRequest(_message.Message):
    __slots__ = ("generation",)
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    generation: str
    def __init__(self, generation: _Optional[str] = ...) -> None: ...

class ListVersionsResponse(_message.Message):
    __slots__ = ("versions",)
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    versions: _containers.RepeatedCompositeFieldContainer[IndexedVersion]
    def __init__(self, versions: _Optional[_Iterable[_Union[IndexedVersion, _Mapping]]] = ...) -> None: ...

class IndexedVersion(_message.Message):
    __slots__ = ("document", "live")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    LIVE_FIELD_NUMBER: _ClassVar[int]
    document: Document
    live: bool
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., live: _Optional[bool] = ...) -> None: ...

class GetParentsRequest(_message.Message):
    __slots__ = ("parent_ids",)
    PARENT_IDS_FIELD_NUMBER: _ClassVar[int]
    parent_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, parent_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetParentsResponse(_message.Message):
    __slots__ = ("parents",)
    PARENTS_FIELD_NUMBER: _ClassVar[int]
    parents: _containers.RepeatedCompositeFieldContainer[FoundParent]
    def __init__(self, parents: _Optional[_Iterable[_Union[FoundParent, _Mapping]]] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ("documents",)
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    documents: bool
    def __init__(self, documents: _Optional[bool] = ...) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("generation", "revision", "fingerprint", "bm25_sha256", "topics", "documents", "store")
    class TopicCount(_message.Message):
        __slots__ = ("topic", "documents", "parents", "children")
        TOPIC_FIELD_NUMBER: _ClassVar[int]
        DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
        PARENTS_FIELD_NUMBER: _ClassVar[int]
        CHILDREN_FIELD_NUMBER: _ClassVar[int]
        topic: str
        documents: int
        parents: int
        children: int
        def __init__(self, topic: _Optional[str] = ..., documents: _Optional[int] = ..., parents: _Optional[int] = ..., children: _Optional[int] = ...) -> None: ...
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    BM25_SHA256_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    STORE_FIELD_NUMBER: _ClassVar[int]
    generation: str
    revision: int
    fingerprint: Fingerprint
    bm25_sha256: str
    topics: _containers.RepeatedCompositeFieldContainer[DescribeResponse.TopicCount]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    store: str
    def __init__(self, generation: _Optional[str] = ..., revision: _Optional[int] = ..., fingerprint: _Optional[_Union[Fingerprint, _Mapping]] = ..., bm25_sha256: _Optional[str] = ..., topics: _Optional[_Iterable[_Union[DescribeResponse.TopicCount, _Mapping]]] = ..., documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., store: _Optional[str] = ...) -> None: ...

class CreateGenerationRequest(_message.Message):
    __slots__ = ("generation", "fingerprint")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    generation: str
    fingerprint: Fingerprint
    def __init__(self, generation: _Optional[str] = ..., fingerprint: _Optional[_Union[Fingerprint, _Mapping]] = ...) -> None: ...

class CreateGenerationResponse(_message.Message):
    __slots__ = ("revision",)
    REVISION_FIELD_NUMBER: _ClassVar[int]
    revision: int
    def __init__(self, revision: _Optional[int] = ...) -> None: ...

class ListGenerationsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListGenerationsResponse(_message.Message):
    __slots__ = ("generations", "revision")
    class Generation(_message.Message):
        __slots__ = ("name", "current", "fingerprint", "documents", "versions", "children")
        NAME_FIELD_NUMBER: _ClassVar[int]
        CURRENT_FIELD_NUMBER: _ClassVar[int]
        FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
        DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
        VERSIONS_FIELD_NUMBER: _ClassVar[int]
        CHILDREN_FIELD_NUMBER: _ClassVar[int]
        name: str
        current: bool
        fingerprint: Fingerprint
        documents: int
        versions: int
        children: int
        def __init__(self, name: _Optional[str] = ..., current: _Optional[bool] = ..., fingerprint: _Optional[_Union[Fingerprint, _Mapping]] = ..., documents: _Optional[int] = ..., versions: _Optional[int] = ..., children: _Optional[int] = ...) -> None: ...
    GENERATIONS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    generations: _containers.RepeatedCompositeFieldContainer[ListGenerationsResponse.Generation]
    revision: int
    def __init__(self, generations: _Optional[_Iterable[_Union[ListGenerationsResponse.Generation, _Mapping]]] = ..., revision: _Optional[int] = ...) -> None: ...

class SwitchGenerationRequest(_message.Message):
    __slots__ = ("generation", "if_revision")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    IF_REVISION_FIELD_NUMBER: _ClassVar[int]
    generation: str
    if_revision: int
    def __init__(self, generation: _Optional[str] = ..., if_revision: _Optional[int] = ...) -> None: ...

class SwitchGenerationResponse(_message.Message):
    __slots__ = ("previous", "revision")
    PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    previous: str
    revision: int
    def __init__(self, previous: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class DropGenerationRequest(_message.Message):
    __slots__ = ("generation",)
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    generation: str
    def __init__(self, generation: _Optional[str] = ...) -> None: ...

class DropGenerationResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
