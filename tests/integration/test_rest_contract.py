"""REST keeps its OpenAPI document, whatever is sent, and gives the messages and frames that gRPC gives."""

from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gateway.web.routes import ROUTES
from radrag import Client
from radrag.assistant.v1 import assistant_pb2 as wire
from tests.gateway.web.steady import frames, steady
from tests.integration.conftest import Stack
from tests.integration.test_traces import Caller, edges
from tests.otlp import Receiver

EXAMPLES = 8
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def test_every_operation_keeps_the_document(light: Stack) -> None:
    assert held(light.http) == len(ROUTES)


def held(url: str) -> int:
    """Sends each operation some requests. Returns how many operations there were."""
    document = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operations = [one.ok() for one in document.get_all_operations() if isinstance(one, Ok)]
    for operation in operations:

        @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def keeps(case: Any) -> None:
            case.headers.pop("Grpc-Timeout", None)  # 504 is the right answer to 900 nanoseconds
            case.call_and_validate(checks=CHECKS, timeout=60)

        keeps()
    return len(operations)


@pytest.mark.parametrize(
    ("question", "filter_"),
    [
        ("What does the knowledge base hold about contrast media?", {}),
        ("Какие контрастные средства описаны в базе знаний?", {"languages": ["ru"]}),
        ("What does the knowledge base hold?", {"topics": ["safety"], "as_of": "2020-01-01"}),
        ("Which stocks should I buy this week?", {}),
    ],
    ids=["answered", "russian", "as of a day before all documents", "out of scope"],
)
def test_events_and_grpc_frames_of_one_question_are_equal(
    light: Stack, question: str, filter_: dict[str, Any]
) -> None:
    reply = httpx.post(
        f"{light.http}/v1/generate",
        json={"question": question, "filter": filter_},
        headers={"Accept": "text/event-stream"},
        timeout=60,
    )
    with Client(light.gateway) as client:
        expected = list(client.stream(question, wire.Filter(**filter_)))
    assert [steady(frame) for frame in frames(reply.text)] == [steady(frame) for frame in expected]
    assert [one.WhichOneof("event") for one in expected][0 :: len(expected) - 1] == ["sources", "finish"]


def test_a_call_over_http_belongs_to_its_callers_trace(light: Stack, collector: Receiver) -> None:
    caller = Caller()
    question = {"question": "What does the knowledge base hold?"}
    reply = httpx.post(f"{light.http}/v1/search", json=question, headers=dict(caller.metadata), timeout=60)
    assert reply.status_code == 200
    spans = collector.wait(caller.trace, lambda found: ("caller", "call") in edges(found, caller))
    assert {"radrag-gateway"} <= {span.service for span in spans}
