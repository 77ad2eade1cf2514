"""REST keeps its OpenAPI document, whatever is sent: no server error, and only what the document says."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.integration.conftest import Stack

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def document(light: Stack) -> object:
    return schemathesis.openapi.from_url(f"{light.http}/openapi.json")


schema = schemathesis.pytest.from_fixture("document")


@schema.parametrize()
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_operation_keeps_the_document(case: schemathesis.Case[Any]) -> None:
    case.call_and_validate(checks=CHECKS, timeout=60)
