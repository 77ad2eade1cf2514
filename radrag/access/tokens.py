"""Bearer tokens (JWT, RFC 7519) of an OpenID Connect issuer: read, verified, turned into a caller.

Only asymmetric signatures count, and only by the algorithm that the issuer's key is for. What is wrong with a
token is told to its sender as one word; the token itself stays out of every message and log.
"""

from dataclasses import dataclass
from typing import Any

import jwt
from jwt.exceptions import (
    ExpiredSignatureError,
    ImmatureSignatureError,
    InvalidAudienceError,
    InvalidIssuerError,
    PyJWTError,
)

from radrag.access import claims
from radrag.access.keyring import Keyring
from radrag.call import Caller
from radrag.errors import Unauthenticated

# Ours to choose, not the token's: no "none", no HMAC.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
MOST_CHARACTERS = 8192  # gRPC takes metadata of 8 KB; a longer token is not looked at
REASONS: dict[type[PyJWTError], str] = {
    ExpiredSignatureError: "TOKEN_EXPIRED",
    ImmatureSignatureError: "TOKEN_NOT_YET_VALID",
    InvalidAudienceError: "TOKEN_AUDIENCE",
    InvalidIssuerError: "TOKEN_ISSUER",
}


@dataclass(frozen=True)
class Issued:
    """The tokens of one issuer for one audience; `leeway` is the clock skew forgiven, in seconds."""

    keys: Keyring
    issuer: str
    audience: str
    leeway: float = 30.0

    async def caller(self, token: str) -> Caller:
        """Whom the token is about. Raises Unauthenticated, or Unavailable while no keys can be read."""
        if len(token) > MOST_CHARACTERS:
            raise Unauthenticated(f"a token has at most {MOST_CHARACTERS:,} characters", "TOKEN_TOO_LONG")
        try:
            header = jwt.get_unverified_header(token)
        except (PyJWTError, ValueError, RecursionError):
            raise Unauthenticated("the token is no JWT", "TOKEN_MALFORMED") from None
        algorithm, key_id = header.get("alg"), header.get("kid")
        if algorithm not in ALGORITHMS or not isinstance(key_id, str):
            raise Unauthenticated("the token's signature is of no accepted kind", "TOKEN_ALGORITHM")
        key = await self.keys.key(key_id)
        if key.algorithm_name != algorithm:
            raise Unauthenticated("the token's key is for another algorithm", "TOKEN_ALGORITHM")
        return claims.caller(self._verified(token, key))

    def _verified(self, token: str, key: jwt.PyJWK) -> dict[str, Any]:
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                audience=self.audience,
                issuer=self.issuer,
                leeway=self.leeway,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (PyJWTError, ValueError, TypeError, RecursionError) as error:
            reason = REASONS.get(type(error), "TOKEN_INVALID")  # type: ignore[arg-type]
            raise Unauthenticated("the token is not valid", reason) from None
