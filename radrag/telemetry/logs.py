"""Logs: one JSON object a line, of fields from a list; lines to read on a terminal.

A field that is not on the list is left out, and an exception is told by its class and its places, never by
its text, which may quote a question. What other libraries log through `logging` takes the same way.
"""

import json
import logging
import sys
import traceback
from contextlib import nullcontext, suppress
from types import TracebackType
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor

from radrag.telemetry import traces

# What a line may hold; numbers, ids, names and classes, never text of a question, an answer or a document.
FIELDS = frozenset(
    {
        "event", "level", "logger", "process", "timestamp", "request_id", "trace_id", "method", "code",
        "outcome", "subject", "seconds", "stages", "error", "where",
    }
)  # fmt: skip
FORMATS = ("auto", "json", "pretty")
# They tell of every connection, at levels at which ours tell of calls.
LOUD = ("alembic", "httpx", "httpcore", "asyncio")
Logger = structlog.stdlib.BoundLogger


def _to_logging(_: Any, __: str, event: EventDict) -> str:
    return " ".join(f"{key}={value}" for key, value in event.items())


def configure(process: str, log_format: str = "auto", out: TextIO | None = None) -> None:
    """Sends everything that is logged to `out` (standard error). Raises ValueError for an unknown format."""
    if log_format not in FORMATS:
        raise ValueError(f"RADRAG_LOG_FORMAT must be one of {', '.join(FORMATS)}")
    out = out or sys.stderr
    pretty = log_format == "pretty" or (log_format == "auto" and out.isatty())
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _named(process),
        _traced,
        _exception_without_text,
        only_listed,
    ]
    renderer = _renderer(pretty, out.isatty())
    handler = logging.StreamHandler(out)
    handler.setFormatter(_formatter(shared, renderer))
    logging.root.handlers = [handler]
    # Ours do not pass through `logging`, which would take as long again.
    structlog.configure(
        processors=[*shared, renderer],
        logger_factory=lambda name: Lines(name, handler),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    )
    logging.root.setLevel(logging.INFO)
    for name in LOUD:
        logging.getLogger(name).setLevel(logging.WARNING)


def get(name: str) -> Logger:
    """A logger whose lines carry fields: `log.info("call", method=…, seconds=…)`."""
    logger: Logger = structlog.stdlib.get_logger(name)
    return logger


def only_listed(_: Any, __: str, event: EventDict) -> EventDict:
    """Leaves out every field that is not on the list. Structlog's own begin with an underscore."""
    return {key: value for key, value in event.items() if key in FIELDS or key.startswith("_")}


class Lines:
    """Writes lines where a handler of `logging` does, one at a time."""

    def __init__(self, name: str, handler: "logging.StreamHandler[TextIO]") -> None:
        self.name, self._handler = name, handler

    def line(self, text: str) -> None:
        """Writes one. Whoever reads the other end may be gone: that is no reason to fail."""
        with self._handler.lock or nullcontext(), suppress(OSError, ValueError):
            self._handler.stream.write(f"{text}\n")
            self._handler.flush()

    debug = info = warning = error = critical = exception = line


def _renderer(pretty: bool, colours: bool) -> Processor:
    if pretty:
        return structlog.dev.ConsoleRenderer(colors=colours)
    return _json


def _formatter(shared: list[Processor], renderer: Processor) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[_foreign_exception, *shared],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        keep_exc_info=False,
    )


# Made once: json.dumps would make one for every line.
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=repr)


def _json(_: Any, __: str, event: EventDict) -> str:
    return _ENCODER.encode(event)


def _named(process: str) -> Processor:
    def add(_: Any, __: str, event: EventDict) -> EventDict:
        event["process"] = process
        return event

    return add


def _traced(_: Any, __: str, event: EventDict) -> EventDict:
    found = event.get("trace_id") or traces.trace_id()
    return {**event, "trace_id": found} if found else event


def _foreign_exception(_: Any, __: str, event: EventDict) -> EventDict:
    """Takes a record's exception before `logging` writes its text.

    What asyncio tells of a failed task has on its further lines the task's `repr`, and so that text too.
    """
    record = event.get("_record")
    if isinstance(record, logging.LogRecord) and record.name == "asyncio":
        event["event"] = str(event["event"]).partition("\n")[0]
    if isinstance(record, logging.LogRecord) and record.exc_info:
        event["exc_info"], record.exc_info, record.exc_text = record.exc_info, None, None
    return event


def _exception_without_text(_: Any, __: str, event: EventDict) -> EventDict:
    given = event.pop("exc_info", None)
    found = sys.exc_info() if given is True else given
    if isinstance(found, BaseException):
        found = (type(found), found, found.__traceback__)
    if isinstance(found, tuple) and found[0] is not None:
        event["error"], event["where"] = found[0].__name__, _places(found[2])
    return event


def _places(trace: TracebackType | None) -> list[str]:
    frames = traceback.extract_tb(trace)[-5:]
    return [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno} {frame.name}" for frame in frames]


# Until a process is configured, and in tests: through `logging`, as its handlers want it.
structlog.configure(
    processors=[structlog.stdlib.filter_by_level, only_listed, _to_logging],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=Logger,
)
