"""The comments of compiled contracts, by the full name of what they stand above."""

from collections.abc import Iterator, Sequence

from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet

# Field numbers in descriptor.proto, of which a location's path is made.
MESSAGE, ENUM, SERVICE = 4, 5, 6
NESTED, INNER_ENUM, FIELD, METHOD, VALUE = 3, 4, 2, 2, 2


def comments(files: FileDescriptorSet) -> dict[str, str]:
    """Leading comments by name; `buf build` keeps them, the stubs do not have them."""
    found: dict[str, str] = {}
    for file in files.file:
        names = dict(_paths(file))
        for place in file.source_code_info.location:
            if place.leading_comments and tuple(place.path) in names:
                found[names[tuple(place.path)]] = " ".join(place.leading_comments.split())
    return found


def _paths(file: FileDescriptorProto) -> Iterator[tuple[tuple[int, ...], str]]:
    for number, message in enumerate(file.message_type):
        yield from _message(message, (MESSAGE, number), f"{file.package}.{message.name}")
    for number, enum in enumerate(file.enum_type):
        yield (ENUM, number), f"{file.package}.{enum.name}"
        yield from _members(enum.value, (ENUM, number, VALUE), f"{file.package}.{enum.name}")
    for number, service in enumerate(file.service):
        yield (SERVICE, number), f"{file.package}.{service.name}"
        yield from _members(service.method, (SERVICE, number, METHOD), f"{file.package}.{service.name}")


def _message(one: DescriptorProto, path: tuple[int, ...], name: str) -> Iterator[tuple[tuple[int, ...], str]]:
    yield path, name
    yield from _members(one.field, (*path, FIELD), name)
    for number, inner in enumerate(one.nested_type):
        yield from _message(inner, (*path, NESTED, number), f"{name}.{inner.name}")
    for number, enum in enumerate(one.enum_type):
        yield (*path, INNER_ENUM, number), f"{name}.{enum.name}"
        yield from _members(enum.value, (*path, INNER_ENUM, number, VALUE), f"{name}.{enum.name}")


def _members(
    members: Sequence[object], path: tuple[int, ...], name: str
) -> Iterator[tuple[tuple[int, ...], str]]:
    for number, one in enumerate(members):
        yield (*path, number), f"{name}.{one.name}"  # type: ignore[attr-defined]  # each kind has a name
