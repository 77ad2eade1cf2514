"""What a hub or a mirror has: the files of a model with their sizes and hashes, at one fixed revision."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TypeAlias

import httpx

from cli.models_download import Wanted
from cli.models_manifest import FILE, WrongBundle, checked, parsed
from cli.models_store import CannotFetch

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


@dataclass(frozen=True)
class Known:
    """A model that this repository serves: where it is published, and which of its files are needed."""

    repo: str
    include: tuple[str, ...]


TOKENIZED = ("config.json", "model*.safetensors*", "tokenizer.json", "tokenizer_config.json")
KNOWN = {
    "frida": Known("ai-forever/FRIDA", TOKENIZED),
    "qwen3_reranker": Known("Qwen/Qwen3-Reranker-0.6B", TOKENIZED),
    "qwen3_30b_a3b": Known(
        "Qwen/Qwen3-30B-A3B", (*TOKENIZED, "generation_config.json", "vocab.json", "merges.txt")
    ),
}


async def hub_files(
    http: httpx.AsyncClient, hub: str, repo: str, revision: str, include: Sequence[str]
) -> tuple[str, list[Wanted]]:
    """The commit behind the revision, and its files. Raises CannotFetch.

    Hugging Face's API: the large files' sha256 is told, of the others git's own hash.
    """
    base = hub.rstrip("/")
    about = await _json(http, f"{base}/api/models/{repo}/revision/{revision}")
    commit = str(about.get("sha", "")) if isinstance(about, dict) else ""
    if not commit:
        raise CannotFetch(f"{base} does not say which commit {repo} {revision} is")
    entries = await _listed(http, f"{base}/api/models/{repo}/tree/{commit}?recursive=true")
    found = [_wanted(entry, f"{base}/{repo}/resolve/{commit}") for entry in entries]
    kept = [one for one in found if not include or any(fnmatch(one.name, like) for like in include)]
    if not kept:
        raise CannotFetch(f"{repo} has no file like {', '.join(include)}")
    return commit, kept


async def mirror_files(http: httpx.AsyncClient, url: str) -> tuple[str, list[Wanted]]:
    """The name of the source, and its files, by the manifest.json that lies there. Raises CannotFetch."""
    base = url.rstrip("/")
    reply = await _get(http, f"{base}/{FILE}")
    try:
        manifest = parsed(reply.content, f"{base}/{FILE}")
    except WrongBundle as wrong:
        raise CannotFetch(str(wrong)) from None
    files = [
        Wanted(name, f"{base}/{name}", file.bytes, sha256=file.sha256)
        for name, file in manifest.files.items()
    ]
    return manifest.source, files


async def _listed(http: httpx.AsyncClient, url: str) -> list[dict[str, Json]]:
    """All pages of a listing."""
    found: list[dict[str, Json]] = []
    while url:
        reply = await _get(http, url)
        page = _parsed(reply)
        if not isinstance(page, list):
            raise CannotFetch(f"{url} is no list of files")
        found += [entry for entry in page if isinstance(entry, dict) and entry.get("type") == "file"]
        url = reply.links.get("next", {}).get("url", "")
    return found


def _wanted(entry: dict[str, Json], base: str) -> Wanted:
    large = entry.get("lfs")
    sha256 = str(large.get("oid", "")) if isinstance(large, dict) else ""
    size = entry.get("size")
    try:
        name = checked(str(entry["path"]))
    except (ValueError, KeyError):
        raise CannotFetch("the hub lists a file outside of its repository") from None
    return Wanted(
        name, f"{base}/{name}", size if isinstance(size, int) else 0, sha256, str(entry.get("oid", ""))
    )


async def _json(http: httpx.AsyncClient, url: str) -> Json:
    return _parsed(await _get(http, url))


def _parsed(reply: httpx.Response) -> Json:
    try:
        value: Json = reply.json()
    except (ValueError, RecursionError):
        raise CannotFetch(f"{reply.url} is no JSON: is it a hub?") from None
    return value


async def _get(http: httpx.AsyncClient, url: str) -> httpx.Response:
    try:
        reply = await http.get(url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise CannotFetch(f"{url} does not answer: {type(error).__name__}") from None
    if reply.status_code != httpx.codes.OK:
        raise CannotFetch(f"{url} answers {reply.status_code}")
    return reply
