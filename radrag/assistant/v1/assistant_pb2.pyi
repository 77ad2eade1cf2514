import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTCOME_UNSPECIFIED: _ClassVar[Outcome]
    OUTCOME_ANSWERED: _ClassVar[Outcome]
    OUTCOME_INSUFFICIENT_EVIDENCE: _ClassVar[Outcome]
    OUTCOME_OUT_OF_SCOPE: _ClassVar[Outcome]
OUTCOME_UNSPECIFIED: Outcome
OUTCOME_ANSWERED: Outcome
OUTCOME_INSUFFICIENT_EVIDENCE: Outcome
OUTCOME_OUT_OF_SCOPE: Outcome

class Filter(_message.Message):
    __slots__ = ("topics", "languages", "categories", "document_ids", "as_of")
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    CATEGORIES_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    topics: _containers.RepeatedScalarFieldContainer[str]
    languages: _containers.RepeatedScalarFieldContainer[str]
    categories: _containers.RepeatedScalarFieldContainer[str]
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    as_of: str
    def __init__(self, topics: _Optional[_Iterable[str]] = ..., languages: _Optional[_Iterable[str]] = ..., categories: _Optional[_Iterable[str]] = ..., document_ids: _Optional[_Iterable[str]] = ..., as_of: _Optional[str] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("children_per_topic", "candidates", "sources", "max_tokens")
    CHILDREN_PER_TOPIC_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    children_per_topic: int
    candidates: int
    sources: int
    max_tokens: int
    def __init__(self, children_per_topic: _Optional[int] = ..., candidates: _Optional[int] = ..., sources: _Optional[int] = ..., max_tokens: _Optional[int] = ...) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("question", "filter", "limits")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    question: str
    filter: Filter
    limits: Limits
    def __init__(self, question: _Optional[str] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("outcome", "ranked_parents", "warnings", "stages", "manifest", "request_id")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    RANKED_PARENTS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    outcome: Outcome
    ranked_parents: _containers.RepeatedCompositeFieldContainer[RankedParent]
    warnings: _containers.RepeatedCompositeFieldContainer[Warning]
    stages: _containers.RepeatedCompositeFieldContainer[Stage]
    manifest: Manifest
    request_id: str
    def __init__(self, outcome: _Optional[_Union[Outcome, str]] = ..., ranked_parents: _Optional[_Iterable[_Union[RankedParent, _Mapping]]] = ..., warnings: _Optional[_Iterable[_Union[Warning, _Mapping]]] = ..., stages: _Optional[_Iterable[_Union[Stage, _Mapping]]] = ..., manifest: _Optional[_Union[Manifest, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class PromptRequest(_message.Message):
    __slots__ = ("question", "filter", "limits")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    question: str
    filter: Filter
    limits: Limits
    def __init__(self, question: _Optional[str] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ...) -> None: ...

class PromptResponse(_message.Message):
    __slots__ = ("query", "prompt", "ranked_parents", "outcome", "message", "warnings", "stages", "manifest", "request_id")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    RANKED_PARENTS_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    query: str
    prompt: str
    ranked_parents: _containers.RepeatedCompositeFieldContainer[RankedParent]
    outcome: Outcome
    message: str
    warnings: _containers.RepeatedCompositeFieldContainer[Warning]
    stages: _containers.RepeatedCompositeFieldContainer[Stage]
    manifest: Manifest
    request_id: str
    def __init__(self, query: _Optional[str] = ..., prompt: _Optional[str] = ..., ranked_parents: _Optional[_Iterable[_Union[RankedParent, _Mapping]]] = ..., outcome: _Optional[_Union[Outcome, str]] = ..., message: _Optional[str] = ..., warnings: _Optional[_Iterable[_Union[Warning, _Mapping]]] = ..., stages: _Optional[_Iterable[_Union[Stage, _Mapping]]] = ..., manifest: _Optional[_Union[Manifest, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class GenerateRequest(_message.Message):
    __slots__ = ("question", "filter", "limits")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    question: str
    filter: Filter
    limits: Limits
    def __init__(self, question: _Optional[str] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ...) -> None: ...

class GenerateResponse(_message.Message):
    __slots__ = ("outcome", "text", "citations", "ranked_parents", "warnings", "stages", "manifest", "usage", "truncated", "reason", "request_id")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    RANKED_PARENTS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    outcome: Outcome
    text: str
    citations: _containers.RepeatedCompositeFieldContainer[Citation]
    ranked_parents: _containers.RepeatedCompositeFieldContainer[RankedParent]
    warnings: _containers.RepeatedCompositeFieldContainer[Warning]
    stages: _containers.RepeatedCompositeFieldContainer[Stage]
    manifest: Manifest
    usage: Usage
    truncated: bool
    reason: str
    request_id: str
    def __init__(self, outcome: _Optional[_Union[Outcome, str]] = ..., text: _Optional[str] = ..., citations: _Optional[_Iterable[_Union[Citation, _Mapping]]] = ..., ranked_parents: _Optional[_Iterable[_Union[RankedParent, _Mapping]]] = ..., warnings: _Optional[_Iterable[_Union[Warning, _Mapping]]] = ..., stages: _Optional[_Iterable[_Union[Stage, _Mapping]]] = ..., manifest: _Optional[_Union[Manifest, _Mapping]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., truncated: _Optional[bool] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class GenerateStreamRequest(_message.Message):
    __slots__ = ("question", "filter", "limits")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    question: str
    filter: Filter
    limits: Limits
    def __init__(self, question: _Optional[str] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ...) -> None: ...

class GenerateStreamResponse(_message.Message):
    __slots__ = ("sources", "text", "finish")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FINISH_FIELD_NUMBER: _ClassVar[int]
    sources: Sources
    text: str
    finish: Finish
    def __init__(self, sources: _Optional[_Union[Sources, _Mapping]] = ..., text: _Optional[str] = ..., finish: _Optional[_Union[Finish, _Mapping]] = ...) -> None: ...

class Sources(_message.Message):
    __slots__ = ("ranked_parents", "request_id")
    RANKED_PARENTS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ranked_parents: _containers.RepeatedCompositeFieldContainer[RankedParent]
    request_id: str
    def __init__(self, ranked_parents: _Optional[_Iterable[_Union[RankedParent, _Mapping]]] = ..., request_id: _Optional[str] = ...) -> None: ...

class Finish(_message.Message):
    __slots__ = ("outcome", "reason", "truncated", "error", "citations", "warnings", "stages", "manifest", "usage")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    outcome: Outcome
    reason: str
    truncated: bool
    error: Error
    citations: _containers.RepeatedCompositeFieldContainer[Citation]
    warnings: _containers.RepeatedCompositeFieldContainer[Warning]
    stages: _containers.RepeatedCompositeFieldContainer[Stage]
    manifest: Manifest
    usage: Usage
    def __init__(self, outcome: _Optional[_Union[Outcome, str]] = ..., reason: _Optional[str] = ..., truncated: _Optional[bool] = ..., error: _Optional[_Union[Error, _Mapping]] = ..., citations: _Optional[_Iterable[_Union[Citation, _Mapping]]] = ..., warnings: _Optional[_Iterable[_Union[Warning, _Mapping]]] = ..., stages: _Optional[_Iterable[_Union[Stage, _Mapping]]] = ..., manifest: _Optional[_Union[Manifest, _Mapping]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ("code", "reason", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: int
    reason: str
    message: str
    def __init__(self, code: _Optional[int] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class RankedParent(_message.Message):
    __slots__ = ("rank", "parent_id", "document", "heading_path", "text", "context", "start", "end", "pages", "children", "scores")
    RANK_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    HEADING_PATH_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    PAGES_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    rank: int
    parent_id: str
    document: Document
    heading_path: _containers.RepeatedScalarFieldContainer[str]
    text: str
    context: str
    start: int
    end: int
    pages: _containers.RepeatedScalarFieldContainer[int]
    children: _containers.RepeatedCompositeFieldContainer[MatchedChild]
    scores: Scores
    def __init__(self, rank: _Optional[int] = ..., parent_id: _Optional[str] = ..., document: _Optional[_Union[Document, _Mapping]] = ..., heading_path: _Optional[_Iterable[str]] = ..., text: _Optional[str] = ..., context: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., pages: _Optional[_Iterable[int]] = ..., children: _Optional[_Iterable[_Union[MatchedChild, _Mapping]]] = ..., scores: _Optional[_Union[Scores, _Mapping]] = ...) -> None: ...

class Document(_message.Message):
    __slots__ = ("document_id", "version", "title", "source_uri", "topic", "category", "tier", "language", "valid_from", "valid_to")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    version: str
    title: str
    source_uri: str
    topic: str
    category: str
    tier: int
    language: str
    valid_from: str
    valid_to: str
    def __init__(self, document_id: _Optional[str] = ..., version: _Optional[str] = ..., title: _Optional[str] = ..., source_uri: _Optional[str] = ..., topic: _Optional[str] = ..., category: _Optional[str] = ..., tier: _Optional[int] = ..., language: _Optional[str] = ..., valid_from: _Optional[str] = ..., valid_to: _Optional[str] = ...) -> None: ...

class MatchedChild(_message.Message):
    __slots__ = ("child_id", "start", "end", "scores")
    CHILD_ID_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    child_id: str
    start: int
    end: int
    scores: Scores
    def __init__(self, child_id: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., scores: _Optional[_Union[Scores, _Mapping]] = ...) -> None: ...

class Scores(_message.Message):
    __slots__ = ("dense", "bm25", "fused", "rerank")
    DENSE_FIELD_NUMBER: _ClassVar[int]
    BM25_FIELD_NUMBER: _ClassVar[int]
    FUSED_FIELD_NUMBER: _ClassVar[int]
    RERANK_FIELD_NUMBER: _ClassVar[int]
    dense: float
    bm25: float
    fused: float
    rerank: float
    def __init__(self, dense: _Optional[float] = ..., bm25: _Optional[float] = ..., fused: _Optional[float] = ..., rerank: _Optional[float] = ...) -> None: ...

class Citation(_message.Message):
    __slots__ = ("marker", "text_start", "text_end", "parent_id", "document_id", "document_version", "start", "end", "quote", "verified", "pages")
    MARKER_FIELD_NUMBER: _ClassVar[int]
    TEXT_START_FIELD_NUMBER: _ClassVar[int]
    TEXT_END_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    QUOTE_FIELD_NUMBER: _ClassVar[int]
    VERIFIED_FIELD_NUMBER: _ClassVar[int]
    PAGES_FIELD_NUMBER: _ClassVar[int]
    marker: int
    text_start: int
    text_end: int
    parent_id: str
    document_id: str
    document_version: str
    start: int
    end: int
    quote: str
    verified: bool
    pages: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, marker: _Optional[int] = ..., text_start: _Optional[int] = ..., text_end: _Optional[int] = ..., parent_id: _Optional[str] = ..., document_id: _Optional[str] = ..., document_version: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., quote: _Optional[str] = ..., verified: _Optional[bool] = ..., pages: _Optional[_Iterable[int]] = ...) -> None: ...

class Warning(_message.Message):
    __slots__ = ("kind", "detail", "text_start", "text_end")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Warning.Kind]
        KIND_CONFLICTING_SOURCES: _ClassVar[Warning.Kind]
        KIND_UNSUPPORTED_SENTENCE: _ClassVar[Warning.Kind]
        KIND_TRUNCATED: _ClassVar[Warning.Kind]
        KIND_DEGRADED: _ClassVar[Warning.Kind]
        KIND_OTHER_LANGUAGE: _ClassVar[Warning.Kind]
        KIND_RERANK_ROW_FAILED: _ClassVar[Warning.Kind]
        KIND_MARKER_REMOVED: _ClassVar[Warning.Kind]
        KIND_PARTIAL_ANSWER: _ClassVar[Warning.Kind]
    KIND_UNSPECIFIED: Warning.Kind
    KIND_CONFLICTING_SOURCES: Warning.Kind
    KIND_UNSUPPORTED_SENTENCE: Warning.Kind
    KIND_TRUNCATED: Warning.Kind
    KIND_DEGRADED: Warning.Kind
    KIND_OTHER_LANGUAGE: Warning.Kind
    KIND_RERANK_ROW_FAILED: Warning.Kind
    KIND_MARKER_REMOVED: Warning.Kind
    KIND_PARTIAL_ANSWER: Warning.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    TEXT_START_FIELD_NUMBER: _ClassVar[int]
    TEXT_END_FIELD_NUMBER: _ClassVar[int]
    kind: Warning.Kind
    detail: str
    text_start: int
    text_end: int
    def __init__(self, kind: _Optional[_Union[Warning.Kind, str]] = ..., detail: _Optional[str] = ..., text_start: _Optional[int] = ..., text_end: _Optional[int] = ...) -> None: ...

class Stage(_message.Message):
    __slots__ = ("name", "start", "duration", "outcome")
    NAME_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    name: str
    start: _duration_pb2.Duration
    duration: _duration_pb2.Duration
    outcome: str
    def __init__(self, name: _Optional[str] = ..., start: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., outcome: _Optional[str] = ...) -> None: ...

class Manifest(_message.Message):
    __slots__ = ("models", "prompt_sha256", "index_generation", "index_revision", "document_versions", "settings_sha256", "as_of")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    PROMPT_SHA256_FIELD_NUMBER: _ClassVar[int]
    INDEX_GENERATION_FIELD_NUMBER: _ClassVar[int]
    INDEX_REVISION_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_SHA256_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[Model]
    prompt_sha256: str
    index_generation: str
    index_revision: int
    document_versions: _containers.RepeatedScalarFieldContainer[str]
    settings_sha256: str
    as_of: str
    def __init__(self, models: _Optional[_Iterable[_Union[Model, _Mapping]]] = ..., prompt_sha256: _Optional[str] = ..., index_generation: _Optional[str] = ..., index_revision: _Optional[int] = ..., document_versions: _Optional[_Iterable[str]] = ..., settings_sha256: _Optional[str] = ..., as_of: _Optional[str] = ...) -> None: ...

class Model(_message.Message):
    __slots__ = ("role", "name", "weights_sha256")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    role: str
    name: str
    weights_sha256: str
    def __init__(self, role: _Optional[str] = ..., name: _Optional[str] = ..., weights_sha256: _Optional[str] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens", "first_token_model", "first_token_caller")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    FIRST_TOKEN_MODEL_FIELD_NUMBER: _ClassVar[int]
    FIRST_TOKEN_CALLER_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    first_token_model: _duration_pb2.Duration
    first_token_caller: _duration_pb2.Duration
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., first_token_model: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., first_token_caller: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class SubmitFeedbackRequest(_message.Message):
    __slots__ = ("request_id", "ratings", "context_completeness", "source_usefulness", "comment")
    class Ratings(_message.Message):
        __slots__ = ("relevance", "accuracy", "safety", "comprehensiveness", "conciseness", "language")
        RELEVANCE_FIELD_NUMBER: _ClassVar[int]
        ACCURACY_FIELD_NUMBER: _ClassVar[int]
        SAFETY_FIELD_NUMBER: _ClassVar[int]
        COMPREHENSIVENESS_FIELD_NUMBER: _ClassVar[int]
        CONCISENESS_FIELD_NUMBER: _ClassVar[int]
        LANGUAGE_FIELD_NUMBER: _ClassVar[int]
        relevance: int
        accuracy: int
        safety: int
        comprehensiveness: int
        conciseness: int
        language: int
        def __init__(self, relevance: _Optional[int] = ..., accuracy: _Optional[int] = ..., safety: _Optional[int] = ..., comprehensiveness: _Optional[int] = ..., conciseness: _Optional[int] = ..., language: _Optional[int] = ...) -> None: ...
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RATINGS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_COMPLETENESS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_USEFULNESS_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    ratings: SubmitFeedbackRequest.Ratings
    context_completeness: int
    source_usefulness: _containers.RepeatedScalarFieldContainer[int]
    comment: str
    def __init__(self, request_id: _Optional[str] = ..., ratings: _Optional[_Union[SubmitFeedbackRequest.Ratings, _Mapping]] = ..., context_completeness: _Optional[int] = ..., source_usefulness: _Optional[_Iterable[int]] = ..., comment: _Optional[str] = ...) -> None: ...

class SubmitFeedbackResponse(_message.Message):
    __slots__ = ("feedback_id",)
    FEEDBACK_ID_FIELD_NUMBER: _ClassVar[int]
    feedback_id: str
    def __init__(self, feedback_id: _Optional[str] = ...) -> None: ...

class GetInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetInfoResponse(_message.Message):
    __slots__ = ("version", "models", "topics", "limits", "max_question_characters", "index_generation", "index_revision", "settings_sha256")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    MAX_QUESTION_CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    INDEX_GENERATION_FIELD_NUMBER: _ClassVar[int]
    INDEX_REVISION_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_SHA256_FIELD_NUMBER: _ClassVar[int]
    version: str
    models: _containers.RepeatedCompositeFieldContainer[Model]
    topics: _containers.RepeatedScalarFieldContainer[str]
    limits: Limits
    max_question_characters: int
    index_generation: str
    index_revision: int
    settings_sha256: str
    def __init__(self, version: _Optional[str] = ..., models: _Optional[_Iterable[_Union[Model, _Mapping]]] = ..., topics: _Optional[_Iterable[str]] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ..., max_question_characters: _Optional[int] = ..., index_generation: _Optional[str] = ..., index_revision: _Optional[int] = ..., settings_sha256: _Optional[str] = ...) -> None: ...
