"""A certificate authority and a token issuer of the tests' own."""

import json
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from radrag.access.channels import Files

ISSUER, AUDIENCE = "https://login.hospital.example", "radrag"


@dataclass
class Authority:
    """Signs certificates into a folder."""

    folder: Path
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.name = _named(f"CA {self.folder.name}")
        ca = x509.BasicConstraints(ca=True, path_length=None)
        made = self._builder(self.name, self.key.public_key()).add_extension(ca, critical=True)
        self.path = self.folder / "ca.pem"
        self.path.write_bytes(made.sign(self.key, hashes.SHA256()).public_bytes(Encoding.PEM))

    def files(self, name: str, authority: Path | None = None, days: int = 30) -> Files:
        """A certificate for `name` on this machine, and the CA that its holder trusts."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName(
            [x509.DNSName(name), x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1"))]
        )
        made = self._builder(_named(name), key.public_key(), days).add_extension(names, critical=False)
        chain, private = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        chain.write_bytes(made.sign(self.key, hashes.SHA256()).public_bytes(Encoding.PEM))
        return Files(chain, private, authority)

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, days: int = 30
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=60))
            .not_valid_after(now + timedelta(days=days))
        )


@dataclass
class Issuer:
    """Signs tokens with a key that may be replaced; its public keys lie in a file, as a JWKS."""

    path: Path
    kid: str = "one"
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def __post_init__(self) -> None:
        self.publish()

    def publish(self) -> None:
        """Writes the one key there is now."""
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        self.path.write_text(
            json.dumps({"keys": [{**public, "kid": self.kid, "use": "sig", "alg": "ES256"}]})
        )

    def rotate(self, kid: str) -> None:
        """Signs with a new key from now on, and publishes it alone."""
        self.kid, self.key = kid, ec.generate_private_key(ec.SECP256R1())
        self.publish()

    def token(self, **changes: Any) -> str:
        """A reader's token with these claims changed, or left out where None."""
        return jwt.encode(self.claims(**changes), self.key, algorithm="ES256", headers={"kid": self.kid})

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        said = {
            "iss": ISSUER, "aud": AUDIENCE, "sub": "anna", "iat": now, "exp": now + 300, "roles": ["reader"],
        } | changes  # fmt: skip
        return {name: value for name, value in said.items() if value is not None}


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
