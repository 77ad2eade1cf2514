"""A log line is one JSON object of listed fields; no exception's text is ever in it."""

import asyncio
import gc
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from radrag.telemetry import logs

SECRET = "the secret question"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What is logged, as a process would write it; logging is afterwards as it was."""
    handlers, level, kept = logging.root.handlers, logging.root.level, structlog.get_config()
    out = io.StringIO()
    logs.configure("gateway", "json", out)
    yield out
    logging.root.handlers = handlers
    logging.root.setLevel(level)
    structlog.configure(**kept)


def read(out: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_call_is_one_object_with_its_fields(lines: io.StringIO) -> None:
    logs.get("one").info("call", method="a/B", code="OK", seconds=0.5, request_id="r", trace_id="t")
    (line,) = read(lines)
    assert line["event"] == "call"
    assert (line["process"], line["level"], line["logger"]) == ("gateway", "info", "one")
    assert (line["method"], line["code"], line["seconds"]) == ("a/B", "OK", 0.5)
    assert line["timestamp"].endswith("Z")


def test_a_field_that_is_not_on_the_list_is_left_out(lines: io.StringIO) -> None:
    logs.get("two").warning("odd", question=SECRET, text=SECRET, answer=SECRET, code="OK")
    assert SECRET not in lines.getvalue()
    assert read(lines)[0]["code"] == "OK"


@pytest.mark.parametrize("library", [True, False])
def test_an_exception_is_told_by_its_class_and_places(lines: io.StringIO, library: bool) -> None:
    try:
        raise ValueError(SECRET)
    except ValueError:
        if library:
            logging.getLogger("grpc").exception("it broke")
        else:
            logs.get("three").exception("it broke")
    (line,) = read(lines)
    assert line["error"] == "ValueError"
    assert line["where"][0].startswith("test_logs.py:")
    assert SECRET not in lines.getvalue()


def test_what_asyncio_tells_of_a_task_has_no_exceptions_text(lines: io.StringIO) -> None:
    async def failing() -> None:
        raise ValueError(SECRET)

    async def leaving_it_alone() -> None:
        task = asyncio.create_task(failing())
        await asyncio.sleep(0)
        del task
        gc.collect()

    asyncio.run(leaving_it_alone())
    (line,) = read(lines)
    assert (line["event"], line["error"]) == ("Task exception was never retrieved", "ValueError")
    assert SECRET not in lines.getvalue()


def test_other_libraries_lines_take_the_same_form(lines: io.StringIO) -> None:
    logging.getLogger("gateway.health").warning("missing: %s", "generator")
    assert read(lines)[0]["event"] == "missing: generator"


def test_on_a_terminal_lines_are_to_be_read() -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    handlers, level, kept = logging.root.handlers, logging.root.level, structlog.get_config()
    try:
        out = Screen()
        logs.configure("gateway", "auto", out)
        logs.get("four").info("call", code="OK")
        assert "call" in out.getvalue()
        assert not out.getvalue().startswith("{")
    finally:
        logging.root.handlers = handlers
        logging.root.setLevel(level)
        structlog.configure(**kept)


def test_an_unknown_form_is_refused_by_the_settings_name() -> None:
    with pytest.raises(ValueError, match="RADRAG_LOG_FORMAT"):
        logs.configure("gateway", "xml")
