"""A process that could not tell its callers apart, or would be overheard, does not start."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from radrag import call, serving
from radrag.access import channels, opening
from radrag.access.identity import Anyone, Known
from radrag.client import AsyncClient
from radrag.settings import SettingError, Settings
from tests.access.authority import AUDIENCE, ISSUER

HERE, OUTSIDE = "127.0.0.1:50051", "0.0.0.0:50051"
NOTHING = Settings()
DEV = Settings(insecure_dev=True)
TOKENS = Settings(jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwt_jwks="keys.json")
CLIENT_CA = replace(TOKENS, tls_client_ca_file="ca.pem")
CREDENTIAL = replace(TOKENS, credential_file="/nonexistent")

REFUSED = {
    "nothing configured": (NOTHING, HERE, "RADRAG_CALLERS_FILE"),
    "nothing configured, and TLS": (replace(NOTHING, tls_cert_file="c", tls_key_file="k"), HERE, "RADRAG_"),
    "everybody, from outside": (DEV, OUTSIDE, "loopback"),
    "everybody, and tokens": (replace(TOKENS, insecure_dev=True), HERE, "RADRAG_INSECURE_DEV"),
    "tokens without an audience": (replace(TOKENS, jwt_audience=""), HERE, "RADRAG_JWT_AUDIENCE"),
    "keys over http": (replace(TOKENS, jwt_jwks="http://login.example/"), HERE, "RADRAG_JWT_JWKS"),
    "an issuer over http": (replace(TOKENS, jwt_issuer="http://login.example", jwt_jwks=""), HERE, "https"),
    "plaintext from outside": (TOKENS, OUTSIDE, "RADRAG_TLS_CERT_FILE"),
    "half a certificate": (replace(TOKENS, tls_cert_file="c.pem"), HERE, "RADRAG_TLS_KEY_FILE"),
    "a CA of clients without TLS": (
        CLIENT_CA,
        HERE,
        "RADRAG_TLS_CERT_FILE",
    ),
    "no file of callers": (Settings(callers_file="/nonexistent"), HERE, "RADRAG_CALLERS_FILE"),
    "no file with the credential": (
        CREDENTIAL,
        HERE,
        "RADRAG_CREDENTIAL",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_does_not_start_and_says_which_setting_is_meant(case: str) -> None:
    settings, address, named = REFUSED[case]
    with pytest.raises(SettingError, match=named):
        opening.opened(settings, address)


def test_it_starts_when_it_knows_its_callers_or_is_told_that_it_need_not() -> None:
    assert isinstance(opening.opened(DEV, HERE).identity, Anyone)
    assert isinstance(opening.opened(TOKENS, HERE).identity, Known)
    assert isinstance(opening.opened(replace(TOKENS, tls_terminated=True), OUTSIDE).identity, Known)
    assert opening.opened(replace(TOKENS, tls_cert_file="c", tls_key_file="k"), OUTSIDE).server is not None


async def test_a_server_that_knows_nobody_listens_on_loopback_only() -> None:
    with pytest.raises(SettingError, match="must know its callers"):
        await serving.start(lambda one: None, "0.0.0.0:0")


def test_a_credential_is_never_sent_in_plaintext_beyond_this_machine(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret\n")
    settings = replace(TOKENS, credential_file=str(tmp_path / "key"))
    with pytest.raises(SettingError, match=r"retrieval\.example:50052 in plaintext"):
        opening.opened(settings, HERE, "retrieval.example:50052")
    with pytest.raises(ValueError, match="plaintext"):
        AsyncClient("gateway.example:50051", credential="secret")


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[Path]:
    """The file of a credential, `one`, that is sent with every call."""
    path = tmp_path / "key"
    path.write_text("one\n")
    channels.show_credential(replace(TOKENS, credential_file=str(path)), HERE)
    yield path
    call.show(lambda: "")
    assert call.AUTHORIZATION not in dict(call.outgoing_metadata())


def sent() -> str:
    return dict(call.outgoing_metadata())[call.AUTHORIZATION]


def test_a_renewed_credential_is_sent_with_the_next_call(shown: Path) -> None:
    assert sent() == "Bearer one"
    shown.write_text("two-two\n")
    assert sent() == "Bearer two-two"


def test_a_credential_is_read_once_for_as_long_as_its_file_is_the_same(
    shown: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_text", lambda *_, **__: pytest.fail("read again"))
        assert sent() == sent() == "Bearer one"


@pytest.mark.parametrize("content", [None, "", "\n", "two words", "ключ"])
def test_a_credential_that_is_gone_or_half_written_is_the_last_one_and_is_told_once(
    shown: Path, content: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    shown.unlink()
    if content is not None:
        shown.write_text(content)
    for _ in range(3):
        assert sent() == "Bearer one"
    assert [one.message.partition(",")[0] for one in caplog.records] == [
        "RADRAG_CREDENTIAL_FILE cannot be used"
    ]
    assert "words" not in caplog.text
    assert "ключ" not in caplog.text
    shown.unlink(missing_ok=True)
    shown.write_text("three\n")
    assert sent() == "Bearer three"


@pytest.mark.parametrize("content", ["", "two words"])
def test_a_file_without_a_credential_is_refused_at_the_start(content: str, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(content)
    with pytest.raises(SettingError, match="RADRAG_CREDENTIAL_FILE"):
        opening.opened(replace(TOKENS, credential_file=str(tmp_path / "key")), HERE)


@pytest.mark.parametrize("url", ["http://qdrant.example:6333", "http://llm.example/v1"])
def test_another_servers_key_is_never_sent_in_plaintext_beyond_this_machine(url: str) -> None:
    with pytest.raises(SettingError, match=r"RADRAG_A_KEY_FILE .* plaintext"):
        channels.refuse_plaintext(TOKENS, "RADRAG_A_KEY_FILE", "key", url)
    channels.refuse_plaintext(TOKENS, "RADRAG_A_KEY_FILE", "key", "https://qdrant.example:6333")
    channels.refuse_plaintext(TOKENS, "RADRAG_A_KEY_FILE", "key", "http://127.0.0.1:6333")
    channels.refuse_plaintext(replace(TOKENS, tls_terminated=True), "RADRAG_A_KEY_FILE", "key", url)
    channels.refuse_plaintext(TOKENS, "RADRAG_A_KEY_FILE", "", url)


@pytest.mark.parametrize("given", [Settings(), replace(DEV, callers_file="callers.json")])
def test_http_is_served_on_the_terms_of_the_whole_process(given: Settings) -> None:
    with pytest.raises(SettingError, match=r"0\.0\.0\.0:8080"):
        opening.check(given, "0.0.0.0:8080")
