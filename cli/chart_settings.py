"""The settings that the chart's `env` takes, in its schema: a name that nobody knows is refused at install.

`make tree` writes them anew.
"""

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from cli.places import ROOT
from radrag.settings import Settings, variable

SCHEMA = ROOT / "deploy" / "helm" / "radrag" / "values.schema.json"
SCALAR = {"additionalProperties": {"type": ["string", "number", "boolean"]}}
SERVICES = {"all", "gateway", "retrieval", "ingest"}
# What other values of the chart say: twice, the later of two would win unseen.
ELSEWHERE = {
    "drain_seconds", "gateway_address", "retrieval_address", "ingest_address", "store", "qdrant_url",
    "qdrant_api_key_file", "qdrant_shards", "qdrant_replicas", "versions_url", "catalogue_url",
    "callers_file", "credential_file", "jwt_issuer", "jwt_audience", "jwt_jwks", "tls_cert_file",
    "tls_key_file", "tls_ca_file", "tls_client_ca_file", "tls_terminated", "insecure_dev",
    "generator_template",
    *(f"{role}_{part}" for role in ("embedder", "reranker", "generator") for part in ("url", "model")),
}  # fmt: skip


def names() -> Iterator[str]:
    """The variables of our services that no other value of the chart sets."""
    for one in fields(Settings):
        if one.name not in ELSEWHERE and SERVICES & set(one.metadata["processes"].split()):
            yield variable(one)


def written(schema: str) -> str:
    """The schema with the variables made anew; OpenTelemetry's own are taken as they are."""
    said: dict[str, Any] = json.loads(schema)
    said["$defs"]["env"] = {
        "type": "object",
        "allOf": [SCALAR],
        "additionalProperties": False,
        "patternProperties": {"^OTEL_[A-Z0-9_]+$": True},
        "properties": dict.fromkeys(sorted(names()), True),
    }
    return json.dumps(said, indent=1, ensure_ascii=False) + "\n"


def renew() -> None:
    """Writes the schema."""
    SCHEMA.write_text(written(SCHEMA.read_text(encoding="utf-8")), encoding="utf-8")
