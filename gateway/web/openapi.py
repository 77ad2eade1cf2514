"""Writes openapi.json from the contracts: buf build … | python -m gateway.web.openapi FILE (`make protos`).

Paths come from the routes, messages and their comments from the compiled contracts. No limit is said twice:
what a field may hold stands in its comment.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

from gateway.web.comments import comments
from gateway.web.problems import MEDIA_TYPE
from gateway.web.routes import ROUTES, Route, Rpc

Json: TypeAlias = dict[str, Any]
KIND = FieldDescriptorProto
# As protobuf's JSON mapping has them: 64-bit integers are strings.
SCALARS: dict[int, Json] = {
    KIND.TYPE_STRING: {"type": "string"},
    KIND.TYPE_BYTES: {"type": "string", "format": "byte"},
    KIND.TYPE_BOOL: {"type": "boolean"},
    KIND.TYPE_UINT32: {"type": "integer", "minimum": 0, "maximum": 4_294_967_295},
    KIND.TYPE_INT32: {"type": "integer", "format": "int32"},
    KIND.TYPE_UINT64: {"type": "string", "format": "uint64"},
    KIND.TYPE_FLOAT: {"type": "number"},
}
WELL_KNOWN: dict[str, Json] = {
    ".google.protobuf.Duration": {"type": "string", "description": 'Seconds, as "0.25s".'},
    ".google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
}
PROBLEM: Json = {
    "type": "object",
    "description": "A failure, RFC 9457; `code` is gRPC's, `reason` a stable word to branch on.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "reason": {"type": "string"},
        "request_id": {"type": "string"},
        "retry_after": {"type": "number", "description": "Seconds."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "detail"],
                "properties": {"field": {"type": "string"}, "detail": {"type": "string"}},
            },
        },
    },
}
HEADERS: list[Json] = [
    {
        "name": "Grpc-Timeout",
        "in": "header",
        "required": False,
        "schema": {"type": "string", "pattern": r"^[0-9]{1,8}[HMSmun]$"},
        "description": "How long the call may take, as gRPC writes it: 30S, 500m; at most 10M, else 60S.",
    },
    {
        "name": "X-Request-Id",
        "in": "header",
        "required": False,
        "schema": {"type": "string", "pattern": r"^[A-Za-z0-9._:-]{1,64}$"},
        "description": "The call's id; comes back in the reply, and stands in logs and traces.",
    },
]


@dataclass
class Schemas:
    """The messages met so far, as JSON schemas by full name."""

    messages: dict[str, tuple[DescriptorProto | EnumDescriptorProto, str]]
    comments: dict[str, str]
    done: Json = field(default_factory=lambda: {"Problem": PROBLEM})

    def of(self, name: str) -> Json:
        """A reference to a message or enum, which is described when it is first met."""
        key = name.removeprefix(".")
        if key not in self.done:
            self.done[key] = {}
            self.done[key] = self._described(*self.messages[name])
        return {"$ref": f"#/components/schemas/{key}"}

    def _described(self, one: DescriptorProto | EnumDescriptorProto, name: str) -> Json:
        said = {"description": self.comments.get(name, "")}
        if isinstance(one, EnumDescriptorProto):
            return {"type": "string", "enum": [value.name for value in one.value], **said}
        fields = {each.name: self._field(each, f"{name}.{each.name}") for each in one.field}
        return {"type": "object", **said, "properties": fields, "additionalProperties": False}

    def _field(self, one: FieldDescriptorProto, name: str) -> Json:
        told = self.comments.get(name, "")
        if (entry := self.messages.get(one.type_name)) and _is_map(entry[0]):
            return {"type": "object", "description": told}
        schema = self._kind(one)
        if one.label == KIND.LABEL_REPEATED:
            return {"type": "array", "items": schema, "description": told}
        return {**schema, "description": told}

    def _kind(self, one: FieldDescriptorProto) -> Json:
        if one.type_name in WELL_KNOWN:
            return dict(WELL_KNOWN[one.type_name])
        return self.of(one.type_name) if one.type_name else dict(SCALARS[one.type])


def document(files: FileDescriptorSet, version: str = "1") -> Json:
    """The OpenAPI document. The service's own `GET /v1/info` names the program's version."""
    schemas = Schemas(dict(_named(files)), comments(files))
    paths = {route.path: {route.verb.lower(): _operation(route, schemas)} for route in ROUTES}
    return {
        "openapi": "3.1.0",
        "info": {"title": "RadRAG", "version": version, "license": {"name": "Apache-2.0"}},
        "security": [{"bearer": []}, {}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": dict(sorted(schemas.done.items())),
        },
    }


def _operation(route: Route, schemas: Schemas) -> Json:
    content: Json = {}
    if route.unary:
        content["application/json"] = {"schema": schemas.of(f".{route.unary.method.output_type.full_name}")}
    if route.streamed:
        schemas.of(f".{route.streamed.method.output_type.full_name}")
        content["text/event-stream"] = {"schema": {"type": "string"}}
    operation: Json = {
        "operationId": route.rpc.method.name,
        "description": _told(route, schemas),
        "parameters": HEADERS,
        "responses": {
            "200": {"description": "Done.", "content": content},
            "default": {
                "description": "A failure.",
                "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            },
        },
    }
    if route.verb == "POST":
        schema = schemas.of(f".{route.rpc.method.input_type.full_name}")
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return operation


def _told(route: Route, schemas: Schemas) -> str:
    def said(rpc: Rpc) -> str:
        return schemas.comments.get(str(rpc.method.full_name), "")

    told = said(route.unary) if route.unary else ""
    if route.streamed:
        frame = route.streamed.method.output_type.full_name
        told += f"\n\nAccept: text/event-stream: {said(route.streamed)} The data of each event is a {frame}."
        told += (
            " A call that breaks off after its first event ends with `event: error`, whose data is a Problem."
        )
    return told.strip()


def _is_map(one: DescriptorProto | EnumDescriptorProto) -> bool:
    return isinstance(one, DescriptorProto) and one.options.map_entry


def _named(
    files: FileDescriptorSet,
) -> Iterator[tuple[str, tuple[DescriptorProto | EnumDescriptorProto, str]]]:
    for file in files.file:
        yield from _inside(file, file.package)


def _inside(
    outer: FileDescriptorProto | DescriptorProto, name: str
) -> Iterator[tuple[str, tuple[DescriptorProto | EnumDescriptorProto, str]]]:
    nested = outer.message_type if isinstance(outer, FileDescriptorProto) else outer.nested_type
    for one in nested:
        yield f".{name}.{one.name}", (one, f"{name}.{one.name}")
        yield from _inside(one, f"{name}.{one.name}")
    for enum in outer.enum_type:
        yield f".{name}.{enum.name}", (enum, f"{name}.{enum.name}")


if __name__ == "__main__":
    compiled = FileDescriptorSet.FromString(sys.stdin.buffer.read())
    text = json.dumps(document(compiled), ensure_ascii=False, indent=1)
    Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
