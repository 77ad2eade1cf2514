"""How a file is refused: an error of the file that names it, the field and the limit."""

from radrag.errors import InvalidArgument


def refused(file: str, field: str, reason: str) -> InvalidArgument:
    """The error for a file that cannot be read; `field` says which of its properties is at fault."""
    return InvalidArgument(field, f"{file}: {reason}")
