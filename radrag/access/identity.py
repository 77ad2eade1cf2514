"""From what comes with a call to the caller it is made for: token or key first, then the certificate.

A token or key that is wrong is refused, whatever the certificate says. The caller that a process of ours
names beside its own credential is believed to be the one it acts for; nobody else's word is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from radrag import call
from radrag.access.callers import Callers
from radrag.access.claims import ROLES, SERVICE
from radrag.access.tokens import Issued
from radrag.call import Call, Caller
from radrag.errors import Unauthenticated

NOBODY = Caller("", frozenset(), frozenset(), frozenset())


class Identity(Protocol):
    """Says who calls. `names` are those of a verified client certificate, `left` the seconds left."""

    async def call(self, metadata: Mapping[str, str], names: Sequence[str], left: float | None) -> Call:
        """The call with its caller. Raises Unauthenticated."""


class Anyone:
    """Everybody is who the metadata says, with every role where it names none: for one's own machine only."""

    async def call(self, metadata: Mapping[str, str], names: Sequence[str], left: float | None) -> Call:
        """Never raises."""
        said = call.from_metadata(metadata, left)
        roles = said.caller.roles or ROLES
        via = "dev" if call.SUBJECT in metadata else ""
        return replace(said, caller=replace(said.caller, roles=roles), via=via)


@dataclass(frozen=True)
class Known:
    """Callers with a token of an issuer, or a key or certificate in the file of callers."""

    issued: Issued | None = None
    callers: Callers | None = None

    async def call(self, metadata: Mapping[str, str], names: Sequence[str], left: float | None) -> Call:
        """The call of a known caller, or of the one that a process of ours hands on."""
        peer = await self._peer(metadata.get(call.AUTHORIZATION), names)
        if SERVICE not in peer.roles or call.SUBJECT not in metadata:
            return call.of(peer, metadata, left)
        return replace(call.from_metadata(metadata, left), via=peer.subject)

    async def _peer(self, authorization: str | None, names: Sequence[str]) -> Caller:
        if authorization is not None:
            return await self._bearer(authorization)
        known = self.callers.by_certificate(names) if self.callers else None
        if known is None:
            raise Unauthenticated("a token, a key or a known client certificate is required", "NO_CREDENTIAL")
        return known

    async def _bearer(self, authorization: str) -> Caller:
        scheme, _, credential = authorization.partition(" ")
        if scheme.lower() != "bearer" or not credential:
            raise Unauthenticated("authorization must be Bearer and a token or key", "NO_CREDENTIAL")
        if credential.startswith("radrag_") and self.callers:
            return self.callers.by_key(credential)
        if self.issued:
            return await self.issued.caller(credential)
        raise Unauthenticated("this credential is of a kind not taken here", "NO_CREDENTIAL")
