"""Signed heads: how far a chain had come, under a signature, for keeping elsewhere.

Whoever can write the chain can shorten it; nobody without the key can make the head that fits what is left.
"""

import base64
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PUBLIC = "public.pem"


def key(path: Path) -> Ed25519PrivateKey:
    """The Ed25519 key in a PEM file; made, for its owner's eyes only, where there is none.

    Raises OSError when it cannot be read or made, ValueError when it holds another kind of key.
    """
    if not path.exists():
        _make(path)
    found = serialization.load_pem_private_key(path.read_bytes(), None)
    if not isinstance(found, Ed25519PrivateKey):
        raise ValueError(f"{path} holds no Ed25519 key")
    return found


def public_key(path: Path) -> Ed25519PublicKey:
    """The public key in a PEM file. Raises OSError, or ValueError when it holds another kind of key."""
    found = serialization.load_pem_public_key(path.read_bytes())
    if not isinstance(found, Ed25519PublicKey):
        raise ValueError(f"{path} holds no Ed25519 public key")
    return found


def publish(private: Ed25519PrivateKey, folder: Path) -> None:
    """Puts the public key where the heads are."""
    folder.mkdir(parents=True, exist_ok=True)
    text = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    _replace(folder / PUBLIC, text, 0o644)


def signed(head: Mapping[str, Any], private: Ed25519PrivateKey) -> bytes:
    """A head as a line: the chain's id and process, `n`, `hash`, the instant, and the signature of those."""
    signature = base64.b64encode(private.sign(_plain(head))).decode()
    return _plain({**head, "signature": signature}) + b"\n"


def export(line: bytes, path: Path) -> None:
    """Adds a head to its file, whole or not at all. What a kill or a full disk left of one is taken off.

    Raises OSError when it cannot be added.
    """
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        whole = path.read_bytes().rfind(b"\n") + 1
        os.ftruncate(handle, whole)
        if os.write(handle, line) != len(line):
            os.ftruncate(handle, whole)
            raise OSError("the disk took a part only")
        os.fdatasync(handle)
    finally:
        os.close(handle)


def newest(path: Path, public: Ed25519PublicKey, chain: str) -> int:
    """The record up to which a chain's newest good head vouches for it; -1 where there is none."""
    lines = path.read_bytes().splitlines() if path.exists() else []
    found = (opened(line, public) for line in reversed(lines))
    return next((int(head["n"]) for head in found if head and head.get("chain") == chain), -1)


def opened(line: bytes, public: Ed25519PublicKey) -> dict[str, Any] | None:
    """The head of a line; None when it is not as its owner signed it."""
    try:
        head = json.loads(line)
        signature = base64.b64decode(head.pop("signature"))
        public.verify(signature, _plain(head))
    except (ValueError, KeyError, AttributeError, TypeError, InvalidSignature):
        return None
    return dict(head)


def _plain(head: Mapping[str, Any]) -> bytes:
    return json.dumps(head, sort_keys=True, separators=(",", ":")).encode()


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    _replace(fresh, text, 0o600)
    with suppress(FileExistsError):  # two processes start at once: the first one's key is it
        os.link(fresh, path)
    fresh.unlink()


def _replace(path: Path, text: bytes, mode: int) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        os.write(handle, text)
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(fresh, path)
