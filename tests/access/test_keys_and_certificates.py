"""API keys and client certificates: known ones come in, by the file as it is now; TLS stays TLS."""

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest

from radrag.access import channels
from radrag.access.callers import Callers, digest, made
from radrag.access.certificates import http_context, server_credentials
from radrag.access.channels import Files, channel_credentials
from radrag.access.following import Following
from radrag.access.identity import Known
from radrag.access.opening import Access
from radrag.assistant.v1.assistant_pb2 import GetInfoRequest
from radrag.assistant.v1.assistant_pb2_grpc import AssistantServiceStub
from radrag.errors import Unauthenticated
from radrag.settings import SettingError
from tests.access.authority import Authority
from tests.access.doors import behind, seen

KEY = made("pacs")
READER = {"sub": "pacs-1", "roles": ["reader"]}


def file_of(
    path: Path,
    keys: Sequence[Mapping[str, object]] = (),
    certificates: Sequence[Mapping[str, object]] = (),
) -> Path:
    path.write_text(json.dumps({"keys": keys, "certificates": certificates}))
    os.utime(path, ns=(os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns + 1))
    return path


def keyed(tmp_path: Path, **more: object) -> Callers:
    return Callers(
        file_of(tmp_path / "callers.json", [{"id": "pacs", "sha256": digest(KEY), **READER, **more}])
    )


async def test_a_key_opens_and_only_its_hash_is_kept(tmp_path: Path) -> None:
    callers = keyed(tmp_path)
    assert KEY not in callers.path.read_text()
    assert KEY not in repr(callers)
    async with behind(Access(Known(callers=callers))) as address:
        assert await seen(address, f"Bearer {KEY}") == "pacs-1|reader|"
        for wrong in (made("pacs"), KEY[:-1], KEY + "x", KEY.replace("pacs", "ris"), "radrag__"):
            assert await seen(address, f"Bearer {wrong}") == "KEY_UNKNOWN", wrong


def test_a_key_ends_on_its_day(tmp_path: Path) -> None:
    today = str(datetime.now(UTC).date())
    with pytest.raises(Unauthenticated, match="expired"):
        keyed(tmp_path, expires=today).by_key(KEY)
    assert keyed(tmp_path, expires="2999-01-01").by_key(KEY).subject == "pacs-1"


def test_a_changed_file_counts_at_once_and_a_broken_one_changes_nothing(tmp_path: Path) -> None:
    callers = keyed(tmp_path)
    callers.path.write_text("{")
    assert callers.by_key(KEY).subject == "pacs-1"
    file_of(callers.path)
    with pytest.raises(Unauthenticated):
        callers.by_key(KEY)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "JSONDecodeError"),
        ('{"keys": [{"id": "a", "sha256": "secret", "sub": "a"}]}', "64 hex digits"),
        ('{"keys": [{"id": "a", "sub": "a"}]}', "sha256"),
        ('{"certificates": [{"name": "gateway"}]}', "sub"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_at_the_start(text: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "callers.json").write_text(text)
    with pytest.raises(SettingError, match=f"RADRAG_CALLERS_FILE .*{complaint}"):
        Callers(tmp_path / "callers.json")


async def test_a_client_certificate_says_who_calls_and_a_service_acts_for_its_caller(tmp_path: Path) -> None:
    ours = Authority(tmp_path / "ours")
    rows = [{"name": "gateway", "sub": "gateway", "roles": ["service"]}, {"name": "pacs", **READER}]
    callers = Callers(file_of(tmp_path / "callers.json", [], rows))
    async with behind(Access(Known(callers=callers), ours.files("server", ours.path))) as address:
        gateway, pacs, stranger = (ours.files(name, ours.path) for name in ("gateway", "pacs", "stranger"))
        assert await seen(address, tls=pacs, radrag_subject="root", radrag_roles="admin") == "pacs-1|reader|"
        assert await seen(address, tls=gateway, radrag_subject="anna", radrag_roles="reader") == (
            "anna|reader|gateway"
        )
        assert await seen(address, tls=stranger) == "NO_CREDENTIAL"
        assert await seen(address, "Bearer wrong", tls=gateway) == "NO_CREDENTIAL"


async def test_plaintext_another_authority_and_no_certificate_are_refused(tmp_path: Path) -> None:
    ours, theirs = Authority(tmp_path / "ours"), Authority(tmp_path / "theirs")
    callers = Callers(file_of(tmp_path / "callers.json", [], [{"name": "pacs", **READER}]))
    async with behind(Access(Known(callers=callers), ours.files("server", ours.path))) as address:
        assert await seen(address) == "UNAVAILABLE"
        assert await seen(address, tls=Files(authority=ours.path)) == "UNAVAILABLE"
        forged = theirs.files("pacs", ours.path)
        assert await seen(address, tls=forged) == "UNAVAILABLE"
        expired = ours.files("pacs", ours.path, days=-1)
        assert await seen(address, tls=expired) == "UNAVAILABLE"
        misled = ours.files("pacs", theirs.path)  # trusts another CA than the server's
        assert await seen(address, tls=misled) == "UNAVAILABLE"


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
async def test_old_protocols_are_refused(tmp_path: Path) -> None:
    ours = Authority(tmp_path / "ours")
    async with behind(Access(Known(callers=keyed(tmp_path)), ours.files("server"))) as address:
        port = int(address.rpartition(":")[2])
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=_at_most(ssl.TLSVersion.TLSv1_2))
        writer.close()
        for newest in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await asyncio.open_connection("127.0.0.1", port, ssl=_at_most(newest))


def _at_most(newest: ssl.TLSVersion) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.set_alpn_protocols(["h2"])
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.maximum_version = newest
    return context


async def test_a_renewed_certificate_is_shown_without_a_restart(tmp_path: Path) -> None:
    old, new = Authority(tmp_path / "old"), Authority(tmp_path / "new")
    files, callers = old.files("server"), keyed(tmp_path)
    async with behind(Access(Known(callers=callers), files)) as address:
        assert await seen(address, f"Bearer {KEY}", Files(authority=old.path)) == "pacs-1|reader|"
        assert files.certificate
        assert files.key
        renewed = new.files("server")
        assert renewed.certificate
        assert renewed.key
        files.key.write_bytes(renewed.key.read_bytes())  # half of the renewal: the old one stays in use
        assert await seen(address, f"Bearer {KEY}", Files(authority=old.path)) == "pacs-1|reader|"
        files.certificate.write_bytes(renewed.certificate.read_bytes())
        assert await seen(address, f"Bearer {KEY}", Files(authority=new.path)) == "pacs-1|reader|"
        assert await seen(address, f"Bearer {KEY}", Files(authority=old.path)) == "UNAVAILABLE"


@asynccontextmanager
async def over_http(files: Files) -> AsyncIterator[int]:
    """The port of a server with the TLS of HTTP."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"x")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0, ssl=http_context(files))
    async with server:
        yield server.sockets[0].getsockname()[1]


async def trusted(port: int, authority: Path, own: Files | None = None, name: str | None = None) -> bool:
    """Whether a client that trusts this CA and shows that certificate gets an answer."""
    context = ssl.create_default_context(cafile=authority)
    if own and own.certificate:
        context.load_cert_chain(own.certificate, own.key)
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
        said = await reader.read()
        writer.close()
    except (ssl.SSLError, ConnectionError):
        return False
    return said == b"x"


async def test_http_shows_a_renewed_certificate_without_a_restart(tmp_path: Path) -> None:
    old, new = Authority(tmp_path / "old"), Authority(tmp_path / "new")
    files, renewed = old.files("server"), new.files("server")
    assert files.certificate and files.key and renewed.certificate and renewed.key  # noqa: PT018
    async with over_http(files) as port:
        assert await trusted(port, old.path)
        files.key.write_bytes(renewed.key.read_bytes())  # half of the renewal
        assert await trusted(port, old.path)
        files.certificate.write_bytes(renewed.certificate.read_bytes())
        assert await trusted(port, new.path)
        assert await trusted(port, new.path, name="localhost")
        assert not await trusted(port, old.path)


async def test_http_wants_the_certificate_that_every_client_must_show(tmp_path: Path) -> None:
    ours, theirs = Authority(tmp_path / "ours"), Authority(tmp_path / "theirs")
    async with over_http(ours.files("server", ours.path)) as port:
        assert await trusted(port, ours.path, ours.files("pacs"))
        assert not await trusted(port, ours.path)
        assert not await trusted(port, ours.path, theirs.files("pacs"))
        assert not await trusted(port, ours.path, ours.files("late", days=-1))


async def test_a_channel_shows_its_renewed_certificate_and_trusts_the_new_ca_without_a_restart(
    tmp_path: Path,
) -> None:
    old, new = Authority(tmp_path / "old"), Authority(tmp_path / "new")
    rows = [{"name": "pacs", **READER}]
    callers = Callers(file_of(tmp_path / "callers.json", [], rows))
    served, own = old.files("server", old.path), old.files("pacs", tmp_path / "ca.pem")
    assert served.certificate and served.key and served.authority  # noqa: PT018
    assert own.certificate and own.key and own.authority  # noqa: PT018
    own.authority.write_bytes(old.path.read_bytes())
    async with (
        behind(Access(Known(callers=callers), served)) as address,
        channels.channel(address, own) as channel,
    ):
        stub = AssistantServiceStub(channel)
        assert (await stub.GetInfo(GetInfoRequest(), timeout=10)).version == "pacs-1|reader|"
        # The server goes over to another CA: its certificate, and the one it takes of clients.
        renewed, mine = new.files("server"), new.files("pacs")
        assert renewed.certificate and renewed.key and mine.certificate and mine.key  # noqa: PT018
        served.authority.write_bytes(new.path.read_bytes())
        served.key.write_bytes(renewed.key.read_bytes())
        served.certificate.write_bytes(renewed.certificate.read_bytes())
        own.key.write_bytes(mine.key.read_bytes())  # half of ours: the connection there is goes on
        assert (await stub.GetInfo(GetInfoRequest(), timeout=10)).version == "pacs-1|reader|"
        own.authority.write_bytes(new.path.read_bytes())
        own.certificate.write_bytes(mine.certificate.read_bytes())
        assert (await stub.GetInfo(GetInfoRequest(), timeout=10)).version == "pacs-1|reader|"
        assert channel.get_state() is grpc.ChannelConnectivity.READY


async def test_a_call_that_runs_when_certificates_change_goes_on(tmp_path: Path) -> None:
    """The channel of before is closed only after a while, or with its successor."""
    stamps, ended = [1], []

    async def end(one: int) -> None:
        ended.append(one)

    numbers = iter(range(9))
    following = Following(lambda: next(numbers), lambda: (stamps[0],), end)
    assert following.now() == following.now() == 0
    stamps[0] = 2
    assert following.now() == following.now() == 1
    await asyncio.sleep(0)
    assert ended == []
    await following.close()
    assert ended == [0, 1]


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    ours = Authority(tmp_path / "ours")
    mixed = Files(ours.files("a").certificate, ours.files("b").key)
    for files in (mixed, Files(tmp_path / "none.pem", tmp_path / "none.key")):
        with pytest.raises(SettingError, match=r"RADRAG_TLS_CERT_FILE|TLS files"):
            server_credentials(files)
        with pytest.raises(SettingError, match="RADRAG_TLS_CERT_FILE"):
            http_context(files)
    with pytest.raises(SettingError, match="TLS files"):
        channel_credentials(Files(authority=tmp_path / "none.pem"))
