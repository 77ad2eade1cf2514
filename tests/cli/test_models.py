"""Weights: fetched whole or not at all, named by what they are, and carried into a closed network."""

import asyncio
import hashlib
import io
import json
import os
import subprocess
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli import arguments, models_archive, models_bundle, models_fetch, models_verify
from cli.exits import Exit
from cli.models_manifest import FILE, read
from cli.terminal import Terminal
from tests.cli.hub import COMMIT, Hub, published

WEIGHTS = os.urandom(200_000)
FILES = {
    "config.json": b'{"model_type": "t5"}',
    "model.safetensors": WEIGHTS,
    "1_Pooling/config.json": b"{}",
    "empty.txt": b"",
    "README.md": "FRIDA: доза".encode(),
}


class Screen(Terminal):
    """Remembers what was said."""

    def __init__(self) -> None:
        super().__init__(out=io.StringIO(), err=io.StringIO())

    @property
    def said(self) -> str:
        assert isinstance(self.out, io.StringIO)
        assert isinstance(self.err, io.StringIO)
        return self.out.getvalue() + self.err.getvalue()


async def radrag(folder: Path, *words: str) -> tuple[int, str]:
    """`radrag models WORDS` in this folder: its status and what it says."""
    screen = Screen()
    given = arguments.parsed(["models", words[0], "--folder", str(folder), *words[1:]])
    commands = {"fetch": models_fetch, "verify": models_verify, "bundle": models_bundle}
    return int(await commands[words[0]].run(given, screen, {})), screen.said


@pytest.fixture
def hub() -> Iterator[Hub]:
    with published(dict(FILES)) as one:
        yield one


def from_hub(hub: Hub, model: str = "frida", *more: str) -> tuple[str, ...]:
    return ("fetch", model, "--hub", hub.url, "--repo", "a/b", "--include", "*", *more)


async def test_a_model_comes_from_a_hub_with_every_file_and_a_manifest(hub: Hub, tmp_path: Path) -> None:
    status, said = await radrag(tmp_path, *from_hub(hub))
    assert (status, "model.safetensors (0.2 MB)" in said) == (Exit.OK, True)
    manifest = read(tmp_path / "frida")
    assert manifest.source == f"a/b@{COMMIT}"
    assert manifest.files.keys() == FILES.keys()
    for name, content in FILES.items():
        assert (tmp_path / "frida" / name).read_bytes() == content
        assert manifest.files[name].sha256 == hashlib.sha256(content).hexdigest()
    assert await radrag(tmp_path, "verify") == (Exit.OK, "frida: every file is the manifest's\n")


async def test_the_folder_is_named_by_the_hash_of_its_manifest_and_the_model_is_a_link_to_it(
    hub: Hub, tmp_path: Path
) -> None:
    await radrag(tmp_path, *from_hub(hub))
    place = (tmp_path / "frida").resolve()
    assert (tmp_path / "frida").is_symlink()
    assert place.name == hashlib.sha256((place / FILE).read_bytes()).hexdigest()
    # Relative, so that the folder may be mounted elsewhere.
    assert not os.path.isabs((tmp_path / "frida").readlink())


async def test_only_what_is_needed_is_fetched_of_a_known_model(hub: Hub, tmp_path: Path) -> None:
    words = ("fetch", "frida", "--hub", hub.url, "--repo", "a/b")
    assert (await radrag(tmp_path, *words))[0] == Exit.OK
    assert read(tmp_path / "frida").files.keys() == {"config.json", "model.safetensors"}


async def test_a_listing_of_many_pages_is_read_to_its_end(hub: Hub, tmp_path: Path) -> None:
    hub.page = 2
    await radrag(tmp_path, *from_hub(hub))
    assert read(tmp_path / "frida").files.keys() == FILES.keys()


async def test_a_download_that_breaks_off_goes_on_where_it_was(hub: Hub, tmp_path: Path) -> None:
    hub.cut = [50_000, 70_000]
    assert (await radrag(tmp_path, *from_hub(hub)))[0] == Exit.OK
    asked = [start for path, start in hub.asked if path.startswith("/files/model")]
    assert asked == ["", "bytes=50000-", "bytes=120000-"]


async def test_a_source_that_knows_no_ranges_begins_anew(hub: Hub, tmp_path: Path) -> None:
    hub.cut, hub.ranges = [50_000], False
    assert (await radrag(tmp_path, *from_hub(hub)))[0] == Exit.OK
    assert (tmp_path / "frida" / "model.safetensors").read_bytes() == WEIGHTS


async def test_one_that_stops_for_good_installs_nothing_and_the_next_run_goes_on(
    hub: Hub, tmp_path: Path
) -> None:
    hub.cut = [60_000, 0, 0, 0, 0, 0]
    status, said = await radrag(tmp_path, *from_hub(hub))
    assert status == Exit.FAILURE
    assert "model.safetensors broke off at 0.1 MB of 0.2 MB" in said
    assert not (tmp_path / "frida").exists()
    hub.asked.clear()
    assert (await radrag(tmp_path, *from_hub(hub)))[0] == Exit.OK
    files = [(path, start) for path, start in hub.asked if path.startswith("/files/")]
    assert ("/files/model.safetensors", "bytes=60000-") in files
    assert ("/files/1_Pooling/config.json", "") not in files, "that one was there already"


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
async def test_a_file_with_another_hash_is_refused_by_name_and_not_kept(
    hub: Hub, tmp_path: Path, name: str
) -> None:
    """Of a small file the hub tells git's hash, of a large one its sha256."""
    hub.corrupt = {name}
    status, said = await radrag(tmp_path, *from_hub(hub))
    assert status == Exit.FAILURE
    assert f"{name} is not what the source promised" in said
    assert not (tmp_path / "frida").exists()
    hub.corrupt = set()
    assert (await radrag(tmp_path, *from_hub(hub)))[0] == Exit.OK


async def test_a_source_without_an_end_is_left_when_it_sends_more_than_it_promised(
    hub: Hub, tmp_path: Path
) -> None:
    hub.endless = True
    status, said = await radrag(tmp_path, *from_hub(hub))
    assert (status, "is not what the source promised" in said) == (Exit.FAILURE, True)


async def test_a_second_fetch_downloads_nothing_and_repairs_what_was_damaged(
    hub: Hub, tmp_path: Path
) -> None:
    await radrag(tmp_path, *from_hub(hub))
    hub.asked.clear()
    assert (await radrag(tmp_path, *from_hub(hub)))[0] == Exit.OK
    assert not [path for path, _ in hub.asked if path.startswith("/files/")]
    (tmp_path / "frida" / "model.safetensors").write_bytes(b"damaged")
    assert (await radrag(tmp_path, "verify", "frida"))[0] == Exit.FAILURE
    assert (await radrag(tmp_path, *from_hub(hub)))[0] == Exit.OK
    assert (await radrag(tmp_path, "verify", "frida"))[0] == Exit.OK


async def test_another_version_takes_its_place_in_one_step_and_the_old_one_stays(
    hub: Hub, tmp_path: Path
) -> None:
    await radrag(tmp_path, *from_hub(hub))
    old = (tmp_path / "frida").resolve()
    hub.files["config.json"] = b"{}"
    await radrag(tmp_path, *from_hub(hub))
    assert (tmp_path / "frida" / "config.json").read_bytes() == b"{}"
    assert (old / "config.json").read_bytes() == FILES["config.json"]


async def under_way(hub: Hub) -> None:
    """Until a file was asked for: however busy the machine is."""
    while not [path for path, _ in hub.asked if path.startswith("/files/")]:
        await asyncio.sleep(0.02)


async def test_two_fetches_at_once_download_once(tmp_path: Path) -> None:
    pause = threading.Event()
    with published(dict(FILES), pause=pause) as hub:
        both = [asyncio.ensure_future(radrag(tmp_path, *from_hub(hub))) for _ in range(2)]
        await asyncio.sleep(0.5)
        pause.set()
        (one, said), (other, told) = await asyncio.gather(*both)
        downloads = [path for path, _ in hub.asked if path == "/files/model.safetensors"]
    assert (one, other, len(downloads)) == (Exit.OK, Exit.OK, 1)
    assert "another fetch of the same is under way" in said + told


async def test_a_killed_fetch_leaves_nothing_but_what_the_next_one_takes_up(tmp_path: Path) -> None:
    with published(dict(FILES), pause=threading.Event()) as hub:
        fetch = asyncio.ensure_future(radrag(tmp_path, *from_hub(hub)))
        await under_way(hub)
        fetch.cancel()
        await asyncio.gather(fetch, return_exceptions=True)
        assert os.listdir(tmp_path) == [".fetching"]
        assert hub.pause
        hub.pause.set()
        assert (await radrag(tmp_path, *from_hub(hub)))[0] == Exit.OK


async def test_a_disk_too_small_is_said_before_anything_is_downloaded(hub: Hub, small_disk: Path) -> None:
    hub.files["model.safetensors"] = bytes(3_000_000)
    status, said = await radrag(small_disk, *from_hub(hub))
    assert status == Exit.FAILURE
    assert "free, 3.0 MB are needed" in said
    assert not [path for path, _ in hub.asked if path.startswith("/files/")]


async def test_a_disk_that_fills_while_downloading_is_one_line_and_the_next_run_goes_on(
    small_disk: Path,
) -> None:
    files = {"a.bin": bytes(600_000), "b.bin": os.urandom(600_000)}
    pause = threading.Event()
    with published(files, pause=pause) as hub:
        fetch = asyncio.ensure_future(radrag(small_disk, *from_hub(hub)))
        await under_way(hub)
        other = small_disk / "others"
        other.mkdir()
        (other / "file").write_bytes(bytes(1_000_000))
        pause.set()
        status, said = await fetch
        assert status == Exit.FAILURE
        assert "No space left on device: make room and run this again" in said
        assert not (small_disk / "frida").exists()
        (other / "file").unlink()
        assert (await radrag(small_disk, *from_hub(hub)))[0] == Exit.OK
    assert (small_disk / "frida" / "b.bin").read_bytes() == files["b.bin"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


async def test_a_hub_that_wants_a_token_says_so_and_gets_it(hub: Hub, tmp_path: Path) -> None:
    hub.token = "s3cret"
    status, said = await radrag(tmp_path, *from_hub(hub))
    assert (status, "answers 403" in said) == (Exit.FAILURE, True)
    file = tmp_path / "token"
    file.write_text("s3cret\n", encoding="utf-8")
    status, said = await radrag(tmp_path / "models", *from_hub(hub, "frida", "--token-file", str(file)))
    assert status == Exit.OK
    assert "s3cret" not in said


@pytest.mark.parametrize("token", [b"\xff\xfe", "ключ".encode(), b"a\nb", b"a b"])
async def test_a_token_that_is_none_is_said_in_one_line_without_it(tmp_path: Path, token: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(token)
    status, said = await radrag(
        tmp_path, "fetch", "frida", "--hub", "http://127.0.0.1:1", "--token-file", str(file)
    )
    assert (status, said) == (
        Exit.FAILURE,
        f"radrag: {file} must hold one line of ASCII, without blanks\n",
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("fetch", "gguf"), "is published nowhere that is known here"),
        (("fetch", "frida", "/nowhere/x.tar"), "neither a bundle, a folder nor a URL"),
        (("fetch", "../frida", "http://127.0.0.1:1"), "is no name of a model"),
        (("fetch", "frida", "http://127.0.0.1:1"), "does not answer: ConnectError"),
        (("fetch", "frida", "--hub", "http://127.0.0.1:1"), "does not answer: ConnectError"),
        (("fetch", "frida", "http://[::1"), "does not answer: InvalidURL"),
        (("fetch", "frida", "--hub", "http://[::1"), "does not answer: InvalidURL"),
        (("fetch", "frida", "--hub", "nonsense"), "does not answer: UnsupportedProtocol"),
        (("bundle", "frida", "/tmp/x.tar"), "frida is absent"),
        (("verify", "frida"), "frida is absent"),
        (("verify",), "there are no weights in"),
    ],
)
async def test_what_cannot_be_done_is_said_in_one_line(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    status, said = await radrag(tmp_path, *words)
    assert status != Exit.OK
    assert message in said
    assert said.count("\n") == 1


async def test_a_folder_somebody_made_is_not_replaced(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "frida").mkdir()
    status, said = await radrag(tmp_path, *from_hub(hub))
    assert (status, "is a folder somebody made" in said) == (Exit.FAILURE, True)


async def test_verify_names_every_missing_truncated_or_other_file(hub: Hub, tmp_path: Path) -> None:
    await radrag(tmp_path, *from_hub(hub))
    (tmp_path / "frida" / "config.json").unlink()
    (tmp_path / "frida" / "model.safetensors").write_bytes(WEIGHTS[:-1])
    (tmp_path / "frida" / "README.md").write_bytes("FRIDA: дозы".encode())
    status, said = await radrag(tmp_path, "verify", "frida")
    assert status == Exit.FAILURE
    readme, config, weights = sorted(said.splitlines())
    assert readme.startswith("frida: README.md has sha256 ")
    assert config == "frida: config.json is absent"
    assert weights == "frida: model.safetensors is truncated: 199999 bytes, the manifest says 200000"


async def bundled(hub: Hub, tmp_path: Path) -> Path:
    await radrag(tmp_path / "models", *from_hub(hub))
    file = tmp_path / "frida.tar"
    status, said = await radrag(tmp_path / "models", "bundle", "frida", str(file))
    assert (status, said) == (Exit.OK, f"{file} (0.2 MB)\n")
    return file


async def test_a_bundle_is_the_same_bytes_whenever_and_wherever_it_is_made(hub: Hub, tmp_path: Path) -> None:
    one = (await bundled(hub, tmp_path / "a")).read_bytes()
    for path in (tmp_path / "a" / "models").rglob("*"):
        if path.is_file():
            os.utime(path, (time.time() - 1e6, 1e9))
            path.chmod(0o600)
    assert (await bundled(hub, tmp_path / "b")).read_bytes() == one
    again = await radrag(tmp_path / "a" / "models", "bundle", "frida", str(tmp_path / "again.tar"))
    assert again[0] == Exit.OK
    assert (tmp_path / "again.tar").read_bytes() == one


async def test_a_bundle_is_read_back_and_installs_what_was_bundled_without_a_network(
    hub: Hub, tmp_path: Path
) -> None:
    file = await bundled(hub, tmp_path)
    assert await radrag(tmp_path, "verify", str(file)) == (Exit.OK, f"{file}: every file is the manifest's\n")
    hub.asked.clear()
    assert (await radrag(tmp_path / "closed", "fetch", "frida", str(file)))[0] == Exit.OK
    assert hub.asked == []
    there, here = [(tmp_path / one / "frida").resolve() for one in ("models", "closed")]
    assert there.name == here.name
    assert (await radrag(tmp_path / "closed", "verify"))[0] == Exit.OK
    with tarfile.open(file) as tar:
        assert tar.getnames() == [FILE, *sorted(FILES)]


@pytest.mark.parametrize("size", [0, 100, 2_000, 150_000])
async def test_a_cut_bundle_is_none(hub: Hub, tmp_path: Path, size: int) -> None:
    file = await bundled(hub, tmp_path)
    os.truncate(file, size)
    status, said = await radrag(tmp_path, "verify", str(file))
    assert status == Exit.FAILURE
    assert "is no bundle" in said or "is absent" in said
    assert (await radrag(tmp_path / "closed", "fetch", "frida", str(file)))[0] == Exit.FAILURE
    assert not (tmp_path / "closed" / "frida").exists()


async def test_a_flipped_byte_in_a_bundle_is_found_and_its_file_named(hub: Hub, tmp_path: Path) -> None:
    file = await bundled(hub, tmp_path)
    content = bytearray(file.read_bytes())
    content[content.index(WEIGHTS[:100])] ^= 1
    file.write_bytes(content)
    status, said = await radrag(tmp_path, "verify", str(file))
    assert (status, "model.safetensors has 200000 bytes and sha256" in said) == (Exit.FAILURE, True)
    status, said = await radrag(tmp_path / "closed", "fetch", "frida", str(file))
    assert (status, "model.safetensors has 200000 bytes" in said) == (Exit.FAILURE, True)
    assert not (tmp_path / "closed" / "frida").exists()


@pytest.mark.parametrize("kind", ["other name", "link", "outside"])
async def test_a_bundle_cannot_write_where_it_should_not(hub: Hub, tmp_path: Path, kind: str) -> None:
    file, evil = await bundled(hub, tmp_path), tmp_path / "evil.tar"
    with tarfile.open(file) as tar, tarfile.open(evil, "w") as out:
        for entry in tar:
            if entry.name == "config.json" and kind == "link":
                entry.type, entry.linkname, entry.size = tarfile.SYMTYPE, "/etc/passwd", 0
                out.addfile(entry)
            else:
                out.addfile(entry, tar.extractfile(entry))
        if kind != "link":
            extra = tarfile.TarInfo("../../escaped" if kind == "outside" else "extra")
            out.addfile(extra)
    status, said = await radrag(tmp_path / "closed", "fetch", "frida", str(evil))
    assert (status, "is not in the manifest, or no file" in said) == (Exit.FAILURE, True)
    assert not (tmp_path / "escaped").exists()
    assert not (tmp_path / "closed" / "frida").exists()


async def test_damaged_weights_are_not_bundled(hub: Hub, tmp_path: Path) -> None:
    await radrag(tmp_path, *from_hub(hub))
    (tmp_path / "frida" / "config.json").unlink()
    status, said = await radrag(tmp_path, "bundle", "frida", str(tmp_path / "x.tar"))
    assert (status, said) == (Exit.FAILURE, "frida: config.json is absent\n")
    assert not (tmp_path / "x.tar").exists()


async def test_a_mirror_is_a_folder_served_over_http(hub: Hub, tmp_path: Path) -> None:
    """Any web server in front of what was fetched once: manifest.json says what is there."""
    await radrag(tmp_path / "first", *from_hub(hub))
    with published({"manifest.json": (tmp_path / "first" / "frida" / FILE).read_bytes(), **FILES}) as mirror:
        status, said = await radrag(tmp_path / "second", "fetch", "frida", f"{mirror.url}/files")
        assert status == Exit.OK, said
        first, second = [(tmp_path / one / "frida").resolve().name for one in ("first", "second")]
        assert first == second
        mirror.files["model.safetensors"] = WEIGHTS[::-1]
        status, said = await radrag(tmp_path / "third", "fetch", "frida", f"{mirror.url}/files")
        assert (status, "model.safetensors is not what" in said) == (Exit.FAILURE, True)


async def test_a_folder_is_taken_as_it_is_and_left_alone(hub: Hub, tmp_path: Path) -> None:
    """The way back of weights that were changed beside, with a manifest of their own."""
    await radrag(tmp_path / "models", *from_hub(hub))
    folder = (tmp_path / "models" / "frida").resolve()
    (folder / "not-listed.txt").write_text("x", encoding="utf-8")
    assert (await radrag(tmp_path / "other", "fetch", "frida", str(folder)))[0] == Exit.OK
    assert (tmp_path / "other" / "frida").resolve().name == folder.name
    assert not (tmp_path / "other" / "frida" / "not-listed.txt").exists()
    assert (folder / FILE).exists()


def test_what_is_written_again_is_in_its_place_only_when_whole(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    entry = {"bytes": 1, "sha256": "0" * 64}
    (folder / FILE).write_text(
        json.dumps({"format": 1, "name": "x", "source": "", "files": {"a": entry}}),
        encoding="utf-8",
    )
    with pytest.raises(FileNotFoundError):
        models_archive.written(folder, tmp_path / "x.tar")
    assert [one.name for one in tmp_path.iterdir()] == ["one"]
