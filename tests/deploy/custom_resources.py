"""What operators take: schemas of the custom resources that the chart makes, strict about unknown fields.

Out of the operators' own definitions, by way of packages that carry these as models (Apache-2.0). To make
them anew: python -m venv FOLDER, FOLDER/bin/pip install of the packages below, then
FOLDER/bin/python -m tests.deploy.custom_resources
"""

import importlib
import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "custom"
# Kind → the module that has its model, and the version of the package it was made from.
MODELS = {
    "ScaledObject": "cloudcoil.models.keda.v1alpha1",  # cloudcoil.models.keda 2.16.1.0
    "ServiceMonitor": "cloudcoil.models.prometheus_operator.v1",  # …prometheus_operator 0.80.1.0
    "PrometheusRule": "cloudcoil.models.prometheus_operator.v1",
    "Certificate": "cloudcoil.models.cert_manager.v1",  # …cert_manager 1.17.1.0
}


@cache
def schema(kind: str) -> dict[str, Any]:
    """The JSON schema of one kind."""
    found: dict[str, Any] = json.loads((FOLDER / f"{kind}.json").read_text(encoding="utf-8"))
    return found


def strict(part: Any) -> Any:
    """A schema without prose, in which an object with named fields has no others."""
    if isinstance(part, list):
        return [strict(one) for one in part]
    if not isinstance(part, dict):
        return part
    prose = {"title", "description", "default"}
    kept = {
        name: strict(one) for name, one in part.items() if isinstance(one, dict | list) or name not in prose
    }
    closed = "properties" in kept and "additionalProperties" not in kept
    return kept | ({"additionalProperties": False} if closed else {})


if __name__ == "__main__":
    for kind, module in MODELS.items():
        said = getattr(importlib.import_module(module), kind).model_json_schema(by_alias=True)
        text = json.dumps(strict(said), sort_keys=True).replace("^(?i)", "(?i)^")  # Go's order of a regex
        (FOLDER / f"{kind}.json").write_text(text + "\n", encoding="utf-8")
