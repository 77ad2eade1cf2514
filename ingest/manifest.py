"""Reads a manifest: YAML that says of each file what no parser can know: id, topic, source, days in force.

    documents:
      - file: safety/mr-zones.html     # below the folder of the manifest, or the one given
        topic: safety
        source_uri: https://…

Keys it does not know are left alone: a manifest is also read by people and other programs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from ingest.document import TIERS, Metadata
from radrag.errors import InvalidArgument
from radrag.yaml_file import content_of

TEXTS = ("title", "topic", "language", "source_uri", "licence")


@dataclass(frozen=True)
class Item:
    """A file to ingest, how it is called in messages, and what is known about it."""

    path: Path
    name: str
    metadata: Metadata


def read_manifest(path: Path, root: Path | None = None) -> list[Item]:
    """The items of a manifest. Raises InvalidArgument naming the entry and the field at fault."""
    try:
        content = content_of(path)
    except (OSError, ValueError) as error:
        raise InvalidArgument("manifest", f"{path.name} cannot be read as YAML") from error
    entries = content.get("documents") if isinstance(content, dict) else content
    if not isinstance(entries, list):
        raise InvalidArgument("manifest", f"{path.name} must hold a list named documents")
    return [item_of(entry, f"documents[{at}]", root or path.parent) for at, entry in enumerate(entries)]


def item_of(entry: object, field: str, root: Path) -> Item:
    if not isinstance(entry, Mapping) or not (name := text_of(entry, field, "file")):
        raise InvalidArgument(f"{field}.file", "is missing; every document needs a file")
    return Item(root / name, name, metadata_of(entry, field))


def metadata_of(entry: Mapping[str, object], field: str) -> Metadata:
    texts = {name: text_of(entry, field, name) for name in TEXTS}
    return Metadata(
        **texts,
        document_id=text_of(entry, field, "id"),
        category=category_of(entry, field),
        tier=tier_of(entry, field),
        valid_from=day_of(entry, field, "valid_from"),
        valid_to=day_of(entry, field, "valid_to"),
        access_labels=labels_of(entry, field),
    )


def text_of(entry: Mapping[str, object], field: str, name: str) -> str:
    """A value as text, empty where there is none. No list: YAML's aliases let a short one be endless."""
    value = entry.get(name)
    if isinstance(value, (list, dict, set, tuple, bytes)):
        raise InvalidArgument(f"{field}.{name}", "must be a text")
    return str(value or "")


def category_of(entry: Mapping[str, object], field: str) -> str:
    category = text_of(entry, field, "category") or "web"
    if category not in TIERS:
        raise InvalidArgument(f"{field}.category", f"must be one of {', '.join(TIERS)}")
    return category


def tier_of(entry: Mapping[str, object], field: str) -> int:
    tier = entry.get("tier") or 0
    if not isinstance(tier, int) or not 0 <= tier <= 4:
        raise InvalidArgument(f"{field}.tier", "must be 1 to 4")
    return tier


def day_of(entry: Mapping[str, object], field: str, name: str) -> date | None:
    value = text_of(entry, field, name)
    try:
        return date.fromisoformat(value) if value else None
    except ValueError as error:
        raise InvalidArgument(f"{field}.{name}", "must be a day, YYYY-MM-DD") from error


def labels_of(entry: Mapping[str, object], field: str) -> tuple[str, ...]:
    labels = entry.get("access_labels") or ["public"]
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise InvalidArgument(f"{field}.access_labels", "must be a list of labels")
    return tuple(labels)
