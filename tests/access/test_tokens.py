"""Bearer tokens over a real channel: who has a good one is known, every attack on it is refused."""

import base64
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from radrag.access.identity import Known
from radrag.access.keyring import Keyring, keys_of, reading
from radrag.access.opening import Access
from radrag.access.tokens import Issued
from radrag.errors import Unauthenticated, Unavailable
from tests.access.authority import AUDIENCE, ISSUER, Issuer
from tests.access.doors import asked, behind, seen


def issued(issuer: Issuer, **more: float) -> Issued:
    return Issued(Keyring(reading(str(issuer.path)), **more), ISSUER, AUDIENCE)  # type: ignore[arg-type]


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    return Issuer(tmp_path / "jwks.json")


def joined(header: Mapping[str, object], claims: Mapping[str, object], signature: bytes = b"") -> str:
    parts = [json.dumps(header).encode(), json.dumps(claims).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def confused(one: Issuer) -> str:
    """HMAC with the public key as its secret: the classic confusion of algorithms."""
    public = one.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    header = {"alg": "HS256", "kid": one.kid}
    signed = joined(header, one.claims()).rpartition(".")[0]
    mac = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(signed.encode(), public)
    return joined(header, one.claims(), mac)


def by_another_key(one: Issuer, algorithm: str = "ES256") -> str:
    key: object = ec.generate_private_key(ec.SECP256R1())
    if algorithm == "RS256":
        key = rsa.generate_private_key(65537, 2048)
    return jwt.encode(one.claims(), key, algorithm=algorithm, headers={"kid": one.kid})  # type: ignore[arg-type]


def altered(one: Issuer) -> str:
    header, _, signature = one.token().split(".")
    return ".".join((header, joined({}, one.claims(sub="root")).split(".")[1], signature))


NOW = time.time()
ATTACKS: dict[str, tuple[Callable[[Issuer], str], str]] = {
    "algorithm none": (lambda one: joined({"alg": "none", "kid": one.kid}, one.claims()), "TOKEN_ALGORITHM"),
    "algorithm None": (lambda one: joined({"alg": "NoNe", "kid": one.kid}, one.claims()), "TOKEN_ALGORITHM"),
    "public key as secret": (confused, "TOKEN_ALGORITHM"),
    "another key": (by_another_key, "TOKEN_INVALID"),
    "another algorithm": (lambda one: by_another_key(one, "RS256"), "TOKEN_ALGORITHM"),
    "claims changed": (altered, "TOKEN_INVALID"),
    "no signature": (lambda one: one.token().rpartition(".")[0] + ".", "TOKEN_INVALID"),
    "no key id": (lambda one: jwt.encode(one.claims(), one.key, "ES256"), "TOKEN_ALGORITHM"),
    "replaced key id": (
        lambda one: jwt.encode(one.claims(), one.key, "ES256", headers={"kid": "../../jwks"}),
        "TOKEN_KEY_UNKNOWN",
    ),
    "own key in the header": (
        lambda one: jwt.encode(
            one.claims(), ec.generate_private_key(ec.SECP256R1()), "ES256",
            headers={"kid": one.kid, "jku": "https://evil.example/jwks", "jwk": {"kty": "EC"}},
        ),
        "TOKEN_INVALID",
    ),
    "expired": (lambda one: one.token(exp=int(NOW) - 60), "TOKEN_EXPIRED"),
    "not yet": (lambda one: one.token(nbf=int(NOW) + 3600), "TOKEN_NOT_YET_VALID"),
    "wrong audience": (lambda one: one.token(aud="another-service"), "TOKEN_AUDIENCE"),
    "wrong issuer": (lambda one: one.token(iss="https://evil.example"), "TOKEN_ISSUER"),
    "no expiry": (lambda one: one.token(exp=None), "TOKEN_INVALID"),
    "no audience": (lambda one: one.token(aud=None), "TOKEN_INVALID"),
    "no subject": (lambda one: one.token(sub=None), "TOKEN_INVALID"),
    "subject with a line end": (lambda one: one.token(sub="anna\nroot"), "SUBJECT_INVALID"),
    "subject that is not ASCII": (lambda one: one.token(sub="Анна"), "SUBJECT_INVALID"),
    "roles with a comma": (lambda one: one.token(roles=["reader,admin"]), "CLAIM_INVALID"),
    "roles that are a number": (lambda one: one.token(roles=7), "CLAIM_INVALID"),
    "no JWT": (lambda one: "x", "TOKEN_MALFORMED"),
    "no JSON": (lambda one: "a.b.c", "TOKEN_MALFORMED"),
    "nested too deeply": (
        lambda one: base64.urlsafe_b64encode(b"[" * 3000).decode() + ".e30.", "TOKEN_MALFORMED"
    ),
    "critical extension": (
        lambda one: jwt.encode(one.claims(), one.key, "ES256", headers={"kid": one.kid, "crit": ["x"]}),
        "TOKEN_MALFORMED",
    ),
}  # fmt: skip


async def test_a_good_token_says_who_calls_and_what_they_may_see(issuer: Issuer) -> None:
    async with behind(Access(Known(issued(issuer)))) as address:
        good = issuer.token(topics=["safety", "physics"], roles=["reader", "janitor"])
        reply = await asked(address, f"Bearer {good}")
        assert (reply.version, list(reply.topics)) == ("anna|reader|", ["physics", "safety"])  # type: ignore[union-attr]
        assert await seen(address, f"Bearer {issuer.token(exp=int(time.time()) - 10)}") == "anna|reader|"


@pytest.mark.parametrize("attack", ATTACKS)
async def test_an_attack_on_a_token_is_refused(attack: str, issuer: Issuer) -> None:
    make, reason = ATTACKS[attack]
    with pytest.raises(Unauthenticated) as refused:
        await issued(issuer).caller(make(issuer))
    assert refused.value.reason == reason


async def test_every_attack_is_refused_over_the_wire_as_unauthenticated(issuer: Issuer) -> None:
    async with behind(Access(Known(issued(issuer)))) as address:
        for attack, (make, reason) in ATTACKS.items():
            assert await seen(address, f"Bearer {make(issuer)}") == reason, attack


async def test_a_huge_token_is_refused_unread(issuer: Issuer) -> None:
    with pytest.raises(Unauthenticated, match="8,192 characters"):
        await issued(issuer).caller(issuer.token(padding="x" * 100_000))


async def test_without_a_credential_or_with_another_scheme_nobody_comes_in(issuer: Issuer) -> None:
    async with behind(Access(Known(issued(issuer)))) as address:
        for credential in ("", "Basic YTpi", "Bearer", "Bearer ", "Bearer radrag_pacs_" + "a" * 43):
            assert await seen(address, credential) in {"NO_CREDENTIAL", "TOKEN_MALFORMED"}, credential


async def test_metadata_cannot_make_a_reader_somebody_else(issuer: Issuer) -> None:
    """Only a process of ours may name the caller it acts for."""
    async with behind(Access(Known(issued(issuer)))) as address:
        reader, ours = issuer.token(), issuer.token(sub="gateway", roles=["service"])
        for token, who in ((reader, "anna|reader|"), (ours, "root|admin|gateway")):
            assert who == await seen(
                address, f"Bearer {token}", radrag_subject="root", radrag_roles="admin", radrag_topics="*"
            )


async def test_keys_are_read_again_when_the_issuer_rotates(issuer: Issuer) -> None:
    tokens = issued(issuer, pause=0.0)
    old = issuer.token()
    assert (await tokens.caller(old)).subject == "anna"
    issuer.rotate("two")
    assert (await tokens.caller(issuer.token())).subject == "anna"
    with pytest.raises(Unauthenticated, match="key is unknown"):
        await tokens.caller(old)


async def test_made_up_key_ids_do_not_make_us_ask_the_issuer_again_and_again(issuer: Issuer) -> None:
    now, asked_at = [0.0], []

    def fetch() -> bytes:
        asked_at.append(now[0])
        return issuer.path.read_bytes()

    keys = Keyring(fetch, clock=lambda: now[0])
    for second in range(100):
        now[0] = second / 10
        with pytest.raises(Unauthenticated):
            await keys.key(f"made-up-{second}")
    assert asked_at == [0.0]
    now[0] = 400.0  # stale: read again for a known key too
    await keys.key(issuer.kid)
    assert len(asked_at) == 2


async def test_an_issuer_that_is_away_is_forgiven_for_an_hour(issuer: Issuer) -> None:
    now, there = [0.0], [True]

    def fetch() -> bytes:
        if not there[0]:
            raise OSError("gone")
        return issuer.path.read_bytes()

    keys = Keyring(fetch, clock=lambda: now[0])
    await keys.key(issuer.kid)
    there[0], now[0] = False, 3000.0
    await keys.key(issuer.kid)
    now[0] = 3700.0
    with pytest.raises(Unavailable, match="issuer"):
        await keys.key(issuer.kid)


def test_a_symmetric_key_of_the_set_is_never_used() -> None:
    secret = {"kty": "oct", "kid": "s", "k": "c2VjcmV0", "alg": "HS256"}
    assert keys_of(json.dumps({"keys": [secret]}).encode()) == {}


def test_keys_come_over_https_only() -> None:
    for bad in ("http://login.example/jwks", "ftp://login.example/jwks", "file:///etc/passwd"):
        with pytest.raises(ValueError, match="https"):
            reading(bad)
