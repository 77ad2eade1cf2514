"""REST keeps its OpenAPI document, whatever is sent."""

import os
import re
from collections import Counter
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from cli.places import ROOT
from gateway.web.calls import A_TIMEOUT
from gateway.web.routes import ROUTES
from tests.integration.conftest import FEW, Stack
from tests.integration.test_traces import Caller, edges
from tests.otlp import Receiver

EXAMPLES = 200 if os.environ.get("RADRAG_TEST_FUZZ") else 8  # of each operation and kind
HELD = "What does the knowledge base hold about contrast media?"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
PAGE = (ROOT / "docs" / "rest.md").read_text(encoding="utf-8")
A_ROW = re.compile(r"^\| (\d{3}(?:, \d{3})*) \|", re.MULTILINE)
DOCUMENTED = {200, *(int(one) for row in A_ROW.findall(PAGE) for one in row.split(", "))}


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_operation_keeps_the_document(light: Stack, mode: GenerationMode) -> None:
    """Sent what fits the document, and what does not: a documented status each time, and never our fault."""
    told = held(light.http, mode)
    assert len(told) == len(ROUTES)
    for operation, statuses in told.items():
        assert set(statuses) <= DOCUMENTED, (operation, statuses)
    if (
        mode is GenerationMode.NEGATIVE
    ):  # protobuf's JSON takes a few that the document does not: null is no value
        every = sum(told.values(), Counter())
        assert every[400] > 0.9 * every.total()


def held(url: str, mode: GenerationMode) -> dict[str, Counter[int]]:
    """Sends each operation some requests. Returns how often it answered with which status."""
    document = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operations = [one.ok() for one in document.get_all_operations() if isinstance(one, Ok)]
    return {one.label: answered(one, mode) for one in operations}


def answered(operation: schemathesis.APIOperation[Any, Any, Any, Any], mode: GenerationMode) -> Counter[int]:
    statuses = Counter[int]()

    @seed(20261201)  # the same requests every time, so that a failure can be looked into
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(mode))
    def keeps(case: Any) -> None:
        if A_TIMEOUT.fullmatch(case.headers.get("Grpc-Timeout", "")):
            del case.headers["Grpc-Timeout"]  # 504 is the right answer to 900 nanoseconds
        statuses[case.call_and_validate(checks=CHECKS, timeout=60).status_code] += 1

    keeps()
    return statuses


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/search", {"question": HELD}),
        ("/v1/prompt", {"question": HELD}),
        ("/v1/generate", {"question": HELD}),
        ("/v1/documents/list", {"page_size": 1}),
        ("/v1/documents/get", {"document_id": FEW[0].name}),
    ],
)
def test_a_reply_has_the_schema_of_the_document(light: Stack, path: str, body: dict[str, Any]) -> None:
    """What is made up above hardly ever gets as far as a reply."""
    operation = schemathesis.openapi.from_url(f"{light.http}/openapi.json")[path]["POST"]
    reply = operation.Case(body=body, media_type="application/json").call_and_validate(
        checks=CHECKS, timeout=60
    )
    assert reply.status_code == 200


def test_a_call_over_http_belongs_to_its_callers_trace(light: Stack, collector: Receiver) -> None:
    caller = Caller()
    question = {"question": "What does the knowledge base hold?"}
    reply = httpx.post(f"{light.http}/v1/search", json=question, headers=dict(caller.metadata), timeout=60)
    assert reply.status_code == 200
    spans = collector.wait(caller.trace, lambda found: ("caller", "call") in edges(found, caller))
    assert {"radrag-gateway"} <= {span.service for span in spans}
