"""Watched folders and pages against a real web server: what is new goes to review, and no further."""

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from cli.kb_watch import hosts
from ingest.catalogue.states import State
from ingest.document import Metadata
from ingest.watch.address import Allowed, NotFetched, is_public
from ingest.watch.fetch import Condition, Fetcher, Manners
from ingest.watch.once import Look, Watch
from ingest.watch.sources import Folder, Page, Sources, read_sources
from radrag.errors import InvalidArgument
from tests.ingest.knowledge import Knowledge, knowledge
from tests.ingest.pages import Answer, Pages, served

QUICK = Manners(seconds_between=0.0, seconds=60.0, most_bytes=100_000)
SAFETY = Metadata(topic="safety")
LENS = (
    "<h1>Lens</h1><p>The lens dose limit is twenty millisieverts a year.</p><h2>MR</h2><p>No dose at all.</p>"
)


@pytest.fixture
def pages() -> Iterator[Pages]:
    with served() as running:
        yield running


@dataclass
class Desk:
    """A knowledge base whose watcher looks at pages of the one server."""

    base: Knowledge
    pages: Pages

    async def look(self, *sources: Page | Folder, manners: Manners = QUICK) -> list[Look]:
        wanted = Sources(
            tuple(one for one in sources if isinstance(one, Folder)),
            tuple(one for one in sources if isinstance(one, Page)),
            private=frozenset({self.pages.origin.removeprefix("http://")}),
        )
        async with Fetcher(Allowed(hosts(wanted), wanted.private), manners) as fetcher:
            return await Watch(self.base.parts.pipeline, self.base.catalogue, fetcher).once(wanted)

    async def one(self, url: str, manners: Manners = QUICK) -> Look:
        (look,) = await self.look(Page(url, SAFETY), manners=manners)
        return look


@pytest.fixture
async def desk(tmp_path: Path, pages: Pages) -> AsyncIterator[Desk]:
    async with knowledge(tmp_path) as base:
        yield Desk(base, pages)


async def test_a_new_page_waits_for_an_expert_and_no_search_finds_it(desk: Desk) -> None:
    url = desk.pages.page("/lens.html", LENS)
    look = await desk.one(url)
    assert (look.what, look.state, look.document_id) == ("new", "in_review", url)
    entry = await desk.base.catalogue.find(url)
    assert (entry.metadata.source_uri, entry.state) == (url, State.IN_REVIEW)
    assert await desk.base.found("lens dose limit") == []


@pytest.mark.parametrize(
    "headers", [{"ETag": '"a"'}, {"Last_Modified": "Tue, 01 Dec 2026 00:00:00 GMT"}, {}], ids=str
)
async def test_an_unchanged_page_is_read_once(desk: Desk, headers: dict[str, str]) -> None:
    url = desk.pages.page("/lens.html", LENS, **headers)
    assert [(await desk.one(url)).what for _ in range(3)] == ["new", "unchanged", "unchanged"]
    assert len(await desk.base.catalogue.of(url)) == 1
    sent = [
        asked.get("If-None-Match") or asked.get("If-Modified-Since")
        for _, path, asked in desk.pages.asked
        if path != "/robots.txt"
    ]
    assert sent == [None, *[next(iter(headers.values()), None)] * 2]


async def test_a_changed_page_is_a_new_version_in_review_and_the_old_one_stays_in_force(desk: Desk) -> None:
    url = desk.pages.page("/lens.html", LENS, ETag='"a"')
    first = await desk.one(url)
    await desk.base.review(url, first.version)
    await desk.base.publish(url, first.version)
    desk.pages.page("/lens.html", LENS.replace("twenty", "fifteen"), ETag='"b"')
    look = await desk.one(url)
    assert (look.what, look.state) == ("changed", "in_review")
    assert [(one.kind, one.path) for one in look.changes] == [("changed", ("Lens",))]
    assert await desk.base.found("lens dose limit") == [first.version]


async def test_a_version_approved_before_is_not_published_by_looking_again(desk: Desk) -> None:
    url = desk.pages.page("/lens.html", LENS)
    look = await desk.one(url)
    await desk.base.review(url, look.version)
    desk.pages.page("/lens.html", LENS + "<!-- other bytes, same text -->")
    assert (await desk.one(url)).state == "approved"
    assert await desk.base.found("lens dose limit") == []


@pytest.mark.parametrize(
    ("answer", "what", "reason"),
    [
        (Answer(status=404), "gone", "status 404; what is published stays in force"),
        (Answer(status=410), "gone", "status 410; what is published stays in force"),
        (Answer(status=500), "failed", "status 500"),
        (Answer(b"x" * 30_000, pieces=4), "failed", "it has more than 100,000 bytes, which is the limit"),
        (
            Answer(b"x", headers={"Content-Encoding": "gzip"}),
            "failed",
            "it comes packed, though nobody asked for that",
        ),
        (Answer(b"\x00\x01", headers={"Content-Type": "image/x-unknown"}), "failed", "file"),
        (Answer(status=302, headers={"Location": "/p"}), "failed", "more than 5 redirects"),
        (
            Answer(status=302, headers={"Location": "http://a:port/?key=secret"}),
            "failed",
            "127.0.0.1 does not answer (RemoteProtocolError)",
        ),
        (Answer(status=302, headers={"Location": "file:///etc/passwd"}), "refused", "file:// is not fetched"),
        (
            Answer(status=302, headers={"Location": "http://127.0.0.2/"}),
            "refused",
            "127.0.0.2:80 is not among the hosts that may be asked",
        ),
        (
            Answer(status=302, headers={"Location": "http://[::1]:6379/"}),
            "refused",
            "::1:6379 is not among the hosts that may be asked",
        ),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
async def test_what_cannot_be_had_is_told_and_tried_again(
    desk: Desk, answer: Answer, what: str, reason: str
) -> None:
    desk.pages.answers["/p"] = answer
    look = await desk.one(f"{desk.pages.origin}/p")
    assert look.what == what
    assert look.reason.startswith(reason) or "p: " in look.reason
    desk.pages.page("/p", LENS)
    assert (await desk.one(f"{desk.pages.origin}/p")).what == "new"


async def test_a_page_that_never_ends_is_left(desk: Desk) -> None:
    desk.pages.answers["/p"] = Answer(b"x", seconds=0.1, pieces=600)
    look = await desk.one(f"{desk.pages.origin}/p", replace(QUICK, seconds=2.0))
    assert (look.what, look.reason) == ("failed", "it took longer than 2 s")


async def test_a_redirect_to_a_private_address_is_refused_though_its_host_may_be_asked(pages: Pages) -> None:
    """Named as a redirect's target is not named as private."""
    pages.answers["/p"] = Answer(status=302, headers={"Location": "http://localhost/secret"})
    own = pages.origin.removeprefix("http://")
    allowed = Allowed(frozenset({own, "localhost"}), frozenset({own}))
    async with Fetcher(allowed, QUICK) as fetcher:
        with pytest.raises(NotFetched, match="localhost stands at a private address") as refusal:
            await fetcher.get(f"{pages.origin}/p", Condition())
    assert refusal.value.refused


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("127.0.0.1", False), ("10.1.2.3", False), ("172.16.0.1", False), ("192.168.1.1", False),
        ("169.254.169.254", False), ("100.64.0.1", False), ("0.0.0.0", False), ("224.0.0.1", False),
        ("::1", False), ("fe80::1", False), ("fd00::1", False), ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False), ("2002:a00:1::", False), ("2001:0:a00:1::", False), ("ff02::1", False),
    ],
)  # fmt: skip
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


async def test_another_port_of_an_allowed_host_is_another_service() -> None:
    allowed = Allowed(frozenset({"127.0.0.1"}), frozenset({"127.0.0.1"}))
    assert await allowed.address(httpx.URL("http://127.0.0.1/")) == "127.0.0.1"
    for url in ("http://127.0.0.1:6379/", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/"):
        with pytest.raises(NotFetched):
            await allowed.address(httpx.URL(url))


@pytest.mark.parametrize(
    ("robots", "what"),
    [
        (Answer(b"User-agent: *\nDisallow: /\nAllow: /lens"), "new"),
        (Answer(b"User-agent: *\nDisallow: /*.html$"), "refused"),
        (Answer(b"User-agent: radrag\nDisallow: /lens\n\nUser-agent: *\nAllow: /"), "refused"),
        (Answer(status=403), "new"),
        (Answer(status=503), "failed"),
    ],
    ids=["longest-match", "wildcard", "by-name", "none", "unreadable"],
)
async def test_robots_txt_is_heeded(desk: Desk, robots: Answer, what: str) -> None:
    url = desk.pages.page("/lens.html", LENS)
    desk.pages.answers["/robots.txt"] = robots
    assert (await desk.one(url)).what == what
    assert desk.pages.paths() == (["/lens.html"] if what == "new" else [])


async def test_a_host_is_given_its_pauses(desk: Desk) -> None:
    sources = [Page(desk.pages.page(f"/{n}.html", f"<p>Page number {n}.</p>"), SAFETY) for n in range(3)]
    desk.pages.answers["/robots.txt"] = Answer(b"User-agent: *\nCrawl-delay: 0.3")
    await desk.look(*sources, manners=replace(QUICK, seconds_between=0.1))
    times = [at for at, path, _ in desk.pages.asked if path != "/robots.txt"]
    assert all(later - earlier >= 0.29 for earlier, later in pairwise(times))


async def test_a_folder_that_is_missing_ends_nothing_where_its_path_is_relative(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (missing,) = await desk.look(Folder(Path("none"), ("*",), SAFETY))
    assert (missing.what, missing.uri) == ("failed", (tmp_path / "none").as_uri())


async def test_a_host_whose_name_cannot_be_looked_up_is_a_page_that_failed() -> None:
    url = httpx.URL(f"http://{'a' * 70}.example.org/")
    with pytest.raises(NotFetched, match="is not found"):
        await Allowed(frozenset({url.host}), frozenset()).address(url)


async def test_a_folder_is_looked_through_by_content(desk: Desk, tmp_path: Path) -> None:
    root, outside = tmp_path / "watched", tmp_path / "secret.md"
    (root / "deep").mkdir(parents=True)
    (root / "a.md").write_text("# A\n\nFirst.")
    (root / "deep" / "b.md").write_text("# B\n\nSecond.")
    (root / "bad.pdf").write_bytes(b"%PDF-1.4 cut off")
    (root / "left.txt").write_text("Not asked for.")
    outside.write_text("# Secret\n\nNot below the folder.")
    (root / "link.md").symlink_to(outside)
    folder = Folder(root, ("**/*.md", "*.pdf"), SAFETY)
    assert [one.what for one in await desk.look(folder)] == ["new", "failed", "new"]
    (root / "a.md").write_text("# A\n\nFirst, changed.")
    (root / "deep" / "b.md").unlink()
    assert [one.what for one in await desk.look(folder)] == ["changed", "failed", "gone"]
    (missing,) = await desk.look(Folder(tmp_path / "none", ("*",), SAFETY))
    assert (missing.what, missing.reason) == ("failed", "it cannot be read: No such file or directory")


async def test_a_name_that_is_no_text_is_told(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "watched").mkdir()
    (tmp_path / "watched" / os.fsdecode(b"\xff.md")).write_text("# A\n\nFirst.")
    (look,) = await desk.look(Folder(tmp_path / "watched", ("*",), SAFETY))
    assert (look.what, look.reason) == ("failed", "name: must be UTF-8 text; rename the file")
    assert look.uri.endswith("/%FF.md")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("sources: 1", "sources"),
        ("sources: [{topic: safety}]", "sources[0]"),
        ("sources: [{url: 'ftp://a/b', topic: safety}]", "sources[0].url"),
        ("sources: [{url: 'https://u:p@a/b'}]", "sources[0].url"),
        ("sources: [{url: 'https://a/b?page=1&token=abc'}]", "sources[0].url"),
        ("sources: [{url: 'https://a/b;jsessionid=abc'}]", "sources[0].url"),
        ("sources: [{folder: a, source_uri: 'https://a/b?X-Amz-Signature=abc'}]", "sources[0].source_uri"),
        ("sources: [{folder: a, id: 'https://a/b?sig=abc'}]", "sources[0].id"),
        ("sources: [{folder: a, include: '*.md'}]", "sources[0].include"),
        ("sources: [{folder: a, include: ['/etc/*']}]", "sources[0].include"),
        ("sources: [{folder: a, category: blog}]", "sources[0].category"),
        ("sources: []\nallow_private: 10.0.0.1", "allow_private"),
        ("sources: []\nseconds_between: -1", "seconds_between"),
        ("a: [", "sources"),
    ],
)
def test_a_bad_sources_file_names_its_field(tmp_path: Path, text: str, field: str) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text(text)
    with pytest.raises(InvalidArgument) as refusal:
        read_sources(path)
    assert refusal.value.field == field
    assert "abc" not in refusal.value.limit


def test_sources_are_read_with_what_is_known_of_them(tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text(
        "seconds_between: 2\nallow_redirects_to: [cdn.example.org]\nallow_private: ['wiki.local:8080']\n"
        "sources:\n- {folder: docs, topic: safety}\n"
        "- {url: 'http://wiki.local:8080/a#b', topic: physics, id: a}\n"
    )
    found = read_sources(path)
    assert found.folders == (Folder(tmp_path / "docs", ("**/*",), Metadata(topic="safety")),)
    page = Page("http://wiki.local:8080/a", Metadata(document_id="a", topic="physics"))
    assert (found.pages, found.seconds_between) == ((page,), 2.0)
    assert hosts(found) == {"wiki.local:8080", "cdn.example.org"}
