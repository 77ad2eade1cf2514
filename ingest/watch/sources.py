"""Reads sources.yaml: which folders and pages are watched, what is known of them, where one may go.

seconds_between: 2              # requests to one host; robots.txt may ask for more
allow_private: [wiki.local]     # hosts that may stand at private addresses; no other may
allow_redirects_to: [cdn.example.org]
sources:
  - folder: guidelines          # below the folder of this file, unless absolute
    include: ["**/*.pdf"]       # all files without it
    topic: safety
  - url: https://example.org/mr-safety.html
    topic: safety
    category: methodological
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

import httpx

from ingest.document import Metadata
from ingest.manifest import metadata_of, text_of
from ingest.secret_uri import check_open
from radrag.errors import InvalidArgument
from radrag.yaml_file import content_of

LONGEST_URL = 2000


@dataclass(frozen=True)
class Folder:
    """Files below `path` that match one of `include`."""

    path: Path
    include: tuple[str, ...]
    metadata: Metadata


@dataclass(frozen=True)
class Page:
    """One address."""

    url: str
    metadata: Metadata


@dataclass(frozen=True)
class Sources:
    """What is watched. Hosts are written as in a URL, a port after them where it is not the usual one."""

    folders: tuple[Folder, ...] = ()
    pages: tuple[Page, ...] = ()
    private: frozenset[str] = frozenset()
    redirects: frozenset[str] = frozenset()
    seconds_between: float = 1.0


@dataclass
class _Reading:
    root: Path
    folders: list[Folder] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)

    def take(self, entry: object, at: str) -> None:
        if not isinstance(entry, Mapping) or bool(entry.get("folder")) == bool(entry.get("url")):
            raise InvalidArgument(at, "must have either a folder or a url")
        known = metadata_of(entry, at)
        for name, value in (("id", known.document_id), ("source_uri", known.source_uri)):
            check_open(value, f"{at}.{name}")
        if entry.get("folder"):
            include = _words(entry.get("include") or ["**/*"], f"{at}.include")
            if any(PurePath(pattern).is_absolute() for pattern in include):
                raise InvalidArgument(f"{at}.include", "must be patterns below the folder")
            self.folders.append(Folder(self.root / text_of(entry, at, "folder"), include, known))
        else:
            self.pages.append(Page(_url(text_of(entry, at, "url"), f"{at}.url"), known))


def read_sources(path: Path) -> Sources:
    """The sources of a file. Raises InvalidArgument naming the entry and the field at fault."""
    try:
        content = content_of(path)
    except (OSError, ValueError) as error:
        raise InvalidArgument("sources", f"{path.name} cannot be read as YAML") from error
    if not isinstance(content, Mapping) or not isinstance(content.get("sources"), list):
        raise InvalidArgument("sources", f"{path.name} must hold a list named sources")
    reading = _Reading(path.parent)
    for at, entry in enumerate(content["sources"]):
        reading.take(entry, f"sources[{at}]")
    return Sources(
        tuple(reading.folders),
        tuple(reading.pages),
        frozenset(_words(content.get("allow_private") or [], "allow_private")),
        frozenset(_words(content.get("allow_redirects_to") or [], "allow_redirects_to")),
        _seconds(content.get("seconds_between", 1.0)),
    )


def _url(text: str, at: str) -> str:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise InvalidArgument(at, "is not a URL") from error
    if url.scheme not in {"http", "https"} or not url.host or url.userinfo or len(text) > LONGEST_URL:
        limit = f"must be http:// or https:// with a host, no password, at most {LONGEST_URL} characters"
        raise InvalidArgument(at, limit)
    check_open(str(url), at)
    return str(url.copy_with(fragment=None))


def _words(value: object, at: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise InvalidArgument(at, "must be a list of texts")
    return tuple(value)


def _seconds(value: object) -> float:
    if not isinstance(value, int | float) or not 0 <= value <= 3600:
        raise InvalidArgument("seconds_between", "must be 0 to 3600")
    return float(value)
