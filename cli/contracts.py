"""Writes the contracts as a page for people: buf build … | python -m cli.contracts docs/reference.md."""

import sys
from collections.abc import Iterator
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

from gateway.web.comments import comments

PUBLIC = ("radrag.assistant.v1", "radrag.knowledge.v1")
HEAD = "# Contracts\n\nMade from `protos/` by `make protos`.\n"


def page(files: FileDescriptorSet) -> str:
    """The public contracts as Markdown: services, then messages, in the order they are written in."""
    told = comments(files)
    parts = [part for file in files.file if file.package in PUBLIC for part in _file(file, told)]
    return "\n".join([HEAD, *parts])


def _file(file: FileDescriptorProto, told: dict[str, str]) -> Iterator[str]:
    for service in file.service:
        name = f"{file.package}.{service.name}"
        yield f"## {name}\n\n{told[name]}\n\n| RPC | Request | Reply | |\n|---|---|---|---|"
        for method in service.method:
            kinds = [
                f"{'stream ' if streamed else ''}{kind.rpartition('.')[2]}"
                for kind, streamed in (
                    (method.input_type, method.client_streaming),
                    (method.output_type, method.server_streaming),
                )
            ]
            yield f"| `{method.name}` | {kinds[0]} | {kinds[1]} | {_cell(told[f'{name}.{method.name}'])} |"
        yield ""
    for message in file.message_type:
        yield from _message(message, f"{file.package}.{message.name}", told)
    for enum in file.enum_type:
        yield from _enum(enum, f"{file.package}.{enum.name}", told)


def _message(one: DescriptorProto, name: str, told: dict[str, str]) -> Iterator[str]:
    if one.options.map_entry:
        return
    yield f"### {_short(name)}\n\n{told.get(name, '')}\n"
    if one.field:
        yield "| Field | Type | |\n|---|---|---|"
    for field in one.field:
        yield f"| `{field.name}` | {_type(field)} | {_cell(told.get(f'{name}.{field.name}', ''))} |"
    yield ""
    for inner in one.nested_type:
        yield from _message(inner, f"{name}.{inner.name}", told)
    for enum in one.enum_type:
        yield from _enum(enum, f"{name}.{enum.name}", told)


def _enum(one: EnumDescriptorProto, name: str, told: dict[str, str]) -> Iterator[str]:
    yield f"### {_short(name)}\n\n{told.get(name, '')}\n\n| Value | |\n|---|---|"
    for value in one.value:
        yield f"| `{value.name}` | {_cell(told.get(f'{name}.{value.name}', ''))} |"
    yield ""


def _type(field: FieldDescriptorProto) -> str:
    kind = field.type_name.rpartition(".")[2] or FieldDescriptorProto.Type.Name(field.type)[5:].lower()
    repeated = field.label == FieldDescriptorProto.LABEL_REPEATED
    return f"{'repeated ' if repeated else 'optional ' if field.proto3_optional else ''}{kind}"


def _short(name: str) -> str:
    return name.split(".v1.")[1]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(
        page(FileDescriptorSet.FromString(sys.stdin.buffer.read())), encoding="utf-8"
    )
