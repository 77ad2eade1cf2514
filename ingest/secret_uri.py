"""Tells whether a URI carries a secret: a source's address becomes an id, and stands below answers."""

import re
from urllib.parse import parse_qsl, urlsplit

from radrag.errors import InvalidArgument

NAMED = re.compile(
    r"token|secret|passw|api_?key|access_?key|signature|credential|authori[sz]ation|sess(ion)?_?id|oauth|jwt"
)
ALONE = {"key", "sig", "auth", "pwd", "pass", "sid"}  # inside a longer word they mean other things
# A JSON web token, whatever its name. The first eyJ of a word will do: what is behind it holds for all.
HIDDEN = re.compile(r"(?<![\w-])(?>[\w-]*?eyJ)[\w-]{8,}+\.[\w-]")


def check_open(uri: str, field: str) -> None:
    """Raises InvalidArgument, naming the field, for one that carries a secret."""
    if secret := secret_in(uri):
        raise InvalidArgument(field, f"must carry no secret, as {secret}: it is kept and shown")


def secret_in(uri: str) -> str:
    """Which part of it looks like a secret, by name and never with its value; empty when none does."""
    try:
        parts = urlsplit(uri)
        if parts.password is not None or (parts.username is not None and parts.scheme in {"http", "https"}):
            return "a password"
    except ValueError:  # no URI: it is checked where it is used
        return ""
    given = [parts.query, parts.fragment, *(one.partition(";")[2] for one in parts.path.split("/"))]
    for text in given:
        for name, value in parse_qsl(text.replace(";", "&"), keep_blank_values=True):
            if is_secret(name, value):
                return f"the parameter {shown(name)}"
    return ""


def is_secret(name: str, value: str) -> bool:
    """By its name, in whatever case, or by the form of its value."""
    plain = re.sub(r"[^a-z]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    return bool(NAMED.search(plain) or ALONE & set(plain.split("_")) or HIDDEN.search(value))


def shown(name: str) -> str:
    """Its first word: what follows may be a value that was packed twice."""
    return re.split(r"[^\w.-]", name)[0][:40]
