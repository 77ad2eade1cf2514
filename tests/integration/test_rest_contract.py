"""REST keeps its OpenAPI document, whatever is sent: no server error, and only what the document says."""

from typing import Any

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
from tests.integration.conftest import Stack

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
