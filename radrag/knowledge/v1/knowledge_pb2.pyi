import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STATE_UNSPECIFIED: _ClassVar[State]
    STATE_DISCOVERED: _ClassVar[State]
    STATE_PARSED: _ClassVar[State]
    STATE_IN_REVIEW: _ClassVar[State]
    STATE_APPROVED: _ClassVar[State]
    STATE_PUBLISHED: _ClassVar[State]
    STATE_SUPERSEDED: _ClassVar[State]
    STATE_EXPIRED: _ClassVar[State]
    STATE_RETIRED: _ClassVar[State]
    STATE_REJECTED: _ClassVar[State]
    STATE_FAILED: _ClassVar[State]
    STATE_DELETED: _ClassVar[State]
STATE_UNSPECIFIED: State
STATE_DISCOVERED: State
STATE_PARSED: State
STATE_IN_REVIEW: State
STATE_APPROVED: State
STATE_PUBLISHED: State
STATE_SUPERSEDED: State
STATE_EXPIRED: State
STATE_RETIRED: State
STATE_REJECTED: State
STATE_FAILED: State
STATE_DELETED: State

class Metadata(_message.Message):
    __slots__ = ("document_id", "title", "topic", "category", "language", "source_uri", "licence", "valid_from", "valid_to", "access_labels")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_URI_FIELD_NUMBER: _ClassVar[int]
    LICENCE_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_FIELD_NUMBER: _ClassVar[int]
    ACCESS_LABELS_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    title: str
    topic: str
    category: str
    language: str
    source_uri: str
    licence: str
    valid_from: str
    valid_to: str
    access_labels: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, document_id: _Optional[str] = ..., title: _Optional[str] = ..., topic: _Optional[str] = ..., category: _Optional[str] = ..., language: _Optional[str] = ..., source_uri: _Optional[str] = ..., licence: _Optional[str] = ..., valid_from: _Optional[str] = ..., valid_to: _Optional[str] = ..., access_labels: _Optional[_Iterable[str]] = ...) -> None: ...

class SubmitDocumentRequest(_message.Message):
    __slots__ = ("header", "data")
    class Header(_message.Message):
        __slots__ = ("metadata", "filename", "uri")
        METADATA_FIELD_NUMBER: _ClassVar[int]
        FILENAME_FIELD_NUMBER: _ClassVar[int]
        URI_FIELD_NUMBER: _ClassVar[int]
        metadata: Metadata
        filename: str
        uri: str
        def __init__(self, metadata: _Optional[_Union[Metadata, _Mapping]] = ..., filename: _Optional[str] = ..., uri: _Optional[str] = ...) -> None: ...
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: SubmitDocumentRequest.Header
    data: bytes
    def __init__(self, header: _Optional[_Union[SubmitDocumentRequest.Header, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class SubmitDocumentResponse(_message.Message):
    __slots__ = ("document_id", "job_id")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    job_id: str
    def __init__(self, document_id: _Optional[str] = ..., job_id: _Optional[str] = ...) -> None: ...

class ListDocumentsRequest(_message.Message):
    __slots__ = ("states", "topics", "page_size", "page_token")
    STATES_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedScalarFieldContainer[State]
    topics: _containers.RepeatedScalarFieldContainer[str]
    page_size: int
    page_token: str
    def __init__(self, states: _Optional[_Iterable[_Union[State, str]]] = ..., topics: _Optional[_Iterable[str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDocumentsResponse(_message.Message):
    __slots__ = ("documents", "next_page_token")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[DocumentSummary]
    next_page_token: str
    def __init__(self, documents: _Optional[_Iterable[_Union[DocumentSummary, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DocumentSummary(_message.Message):
    __slots__ = ("metadata", "version", "state", "since", "flags")
    METADATA_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    metadata: Metadata
    version: str
    state: State
    since: _timestamp_pb2.Timestamp
    flags: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, metadata: _Optional[_Union[Metadata, _Mapping]] = ..., version: _Optional[str] = ..., state: _Optional[_Union[State, str]] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., flags: _Optional[_Iterable[str]] = ...) -> None: ...

class GetDocumentRequest(_message.Message):
    __slots__ = ("document_id", "version")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    version: str
    def __init__(self, document_id: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class GetDocumentResponse(_message.Message):
    __slots__ = ("document", "markdown", "chunks", "versions", "history", "changes", "near_duplicates", "pages", "removals")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    MARKDOWN_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    NEAR_DUPLICATES_FIELD_NUMBER: _ClassVar[int]
    PAGES_FIELD_NUMBER: _ClassVar[int]
    REMOVALS_FIELD_NUMBER: _ClassVar[int]
    document: DocumentSummary
    markdown: str
    chunks: _containers.RepeatedCompositeFieldContainer[Chunk]
    versions: _containers.RepeatedCompositeFieldContainer[DocumentSummary]
    history: _containers.RepeatedCompositeFieldContainer[ReviewEvent]
    changes: _containers.RepeatedCompositeFieldContainer[SectionChange]
    near_duplicates: _containers.RepeatedCompositeFieldContainer[NearDuplicate]
    pages: _containers.RepeatedCompositeFieldContainer[PageRecord]
    removals: _containers.RepeatedCompositeFieldContainer[Removal]
    def __init__(self, document: _Optional[_Union[DocumentSummary, _Mapping]] = ..., markdown: _Optional[str] = ..., chunks: _Optional[_Iterable[_Union[Chunk, _Mapping]]] = ..., versions: _Optional[_Iterable[_Union[DocumentSummary, _Mapping]]] = ..., history: _Optional[_Iterable[_Union[ReviewEvent, _Mapping]]] = ..., changes: _Optional[_Iterable[_Union[SectionChange, _Mapping]]] = ..., near_duplicates: _Optional[_Iterable[_Union[NearDuplicate, _Mapping]]] = ..., pages: _Optional[_Iterable[_Union[PageRecord, _Mapping]]] = ..., removals: _Optional[_Iterable[_Union[Removal, _Mapping]]] = ...) -> None: ...

class Removal(_message.Message):
    __slots__ = ("rule", "count", "characters", "samples")
    RULE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    rule: str
    count: int
    characters: int
    samples: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, rule: _Optional[str] = ..., count: _Optional[int] = ..., characters: _Optional[int] = ..., samples: _Optional[_Iterable[str]] = ...) -> None: ...

class PageRecord(_message.Message):
    __slots__ = ("page", "engine", "confidence", "reasons")
    PAGE_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    page: int
    engine: str
    confidence: float
    reasons: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, page: _Optional[int] = ..., engine: _Optional[str] = ..., confidence: _Optional[float] = ..., reasons: _Optional[_Iterable[str]] = ...) -> None: ...

class SectionChange(_message.Message):
    __slots__ = ("heading_path", "kind", "removed_lines", "added_lines")
    HEADING_PATH_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REMOVED_LINES_FIELD_NUMBER: _ClassVar[int]
    ADDED_LINES_FIELD_NUMBER: _ClassVar[int]
    heading_path: _containers.RepeatedScalarFieldContainer[str]
    kind: str
    removed_lines: _containers.RepeatedScalarFieldContainer[str]
    added_lines: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, heading_path: _Optional[_Iterable[str]] = ..., kind: _Optional[str] = ..., removed_lines: _Optional[_Iterable[str]] = ..., added_lines: _Optional[_Iterable[str]] = ...) -> None: ...

class NearDuplicate(_message.Message):
    __slots__ = ("document_id", "version", "title", "state", "likeness")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    LIKENESS_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    version: str
    title: str
    state: State
    likeness: float
    def __init__(self, document_id: _Optional[str] = ..., version: _Optional[str] = ..., title: _Optional[str] = ..., state: _Optional[_Union[State, str]] = ..., likeness: _Optional[float] = ...) -> None: ...

class Chunk(_message.Message):
    __slots__ = ("level", "start", "end", "tokens")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    level: str
    start: int
    end: int
    tokens: int
    def __init__(self, level: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., tokens: _Optional[int] = ...) -> None: ...

class ReviewEvent(_message.Message):
    __slots__ = ("subject", "at", "state", "reason", "act")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ACT_FIELD_NUMBER: _ClassVar[int]
    subject: str
    at: _timestamp_pb2.Timestamp
    state: State
    reason: str
    act: str
    def __init__(self, subject: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., state: _Optional[_Union[State, str]] = ..., reason: _Optional[str] = ..., act: _Optional[str] = ...) -> None: ...

class ReviewDocumentRequest(_message.Message):
    __slots__ = ("document_id", "version", "decision", "reason")
    class Decision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DECISION_UNSPECIFIED: _ClassVar[ReviewDocumentRequest.Decision]
        DECISION_APPROVE: _ClassVar[ReviewDocumentRequest.Decision]
        DECISION_REJECT: _ClassVar[ReviewDocumentRequest.Decision]
    DECISION_UNSPECIFIED: ReviewDocumentRequest.Decision
    DECISION_APPROVE: ReviewDocumentRequest.Decision
    DECISION_REJECT: ReviewDocumentRequest.Decision
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    version: str
    decision: ReviewDocumentRequest.Decision
    reason: str
    def __init__(self, document_id: _Optional[str] = ..., version: _Optional[str] = ..., decision: _Optional[_Union[ReviewDocumentRequest.Decision, str]] = ..., reason: _Optional[str] = ...) -> None: ...

class ReviewDocumentResponse(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: State
    def __init__(self, state: _Optional[_Union[State, str]] = ...) -> None: ...

class PublishDocumentRequest(_message.Message):
    __slots__ = ("document_id", "version")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    version: str
    def __init__(self, document_id: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class PublishDocumentResponse(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class RetireDocumentRequest(_message.Message):
    __slots__ = ("document_id", "valid_to", "reason", "version")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    VALID_TO_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    valid_to: str
    reason: str
    version: str
    def __init__(self, document_id: _Optional[str] = ..., valid_to: _Optional[str] = ..., reason: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class RetireDocumentResponse(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: State
    def __init__(self, state: _Optional[_Union[State, str]] = ...) -> None: ...

class RetryDocumentRequest(_message.Message):
    __slots__ = ("document_id", "version", "reason")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    version: str
    reason: str
    def __init__(self, document_id: _Optional[str] = ..., version: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RetryDocumentResponse(_message.Message):
    __slots__ = ("state", "job_id")
    STATE_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    state: State
    job_id: str
    def __init__(self, state: _Optional[_Union[State, str]] = ..., job_id: _Optional[str] = ...) -> None: ...

class DeleteDocumentRequest(_message.Message):
    __slots__ = ("document_id", "version")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    version: str
    def __init__(self, document_id: _Optional[str] = ..., version: _Optional[str] = ...) -> None: ...

class DeleteDocumentResponse(_message.Message):
    __slots__ = ("versions",)
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    versions: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, versions: _Optional[_Iterable[str]] = ...) -> None: ...

class WatchJobRequest(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class WatchJobResponse(_message.Message):
    __slots__ = ("stage", "progress", "done", "state", "error")
    STAGE_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    stage: str
    progress: float
    done: bool
    state: State
    error: str
    def __init__(self, stage: _Optional[str] = ..., progress: _Optional[float] = ..., done: _Optional[bool] = ..., state: _Optional[_Union[State, str]] = ..., error: _Optional[str] = ...) -> None: ...

class RecordFeedbackRequest(_message.Message):
    __slots__ = ("request_id", "ratings", "context_completeness", "source_usefulness", "comment")
    class RatingsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RATINGS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_COMPLETENESS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_USEFULNESS_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    ratings: _containers.ScalarMap[str, int]
    context_completeness: int
    source_usefulness: _containers.RepeatedScalarFieldContainer[int]
    comment: str
    def __init__(self, request_id: _Optional[str] = ..., ratings: _Optional[_Mapping[str, int]] = ..., context_completeness: _Optional[int] = ..., source_usefulness: _Optional[_Iterable[int]] = ..., comment: _Optional[str] = ...) -> None: ...

class RecordFeedbackResponse(_message.Message):
    __slots__ = ("feedback_id",)
    FEEDBACK_ID_FIELD_NUMBER: _ClassVar[int]
    feedback_id: str
    def __init__(self, feedback_id: _Optional[str] = ...) -> None: ...
