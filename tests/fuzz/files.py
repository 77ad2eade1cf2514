"""Mutated files of every kind that is read: broken bytes, hostile markup, parts doubled; the same by seed."""

import io
import random
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.fuzz.messages import TEXTS, broken

ROOT = Path(__file__).parents[2]
DOCUMENTS, BUILT = ROOT / "samples" / "documents", ROOT / "var" / "samples"
LONGEST = 12_000  # bytes of a seed in text: many small files find more than few large ones
PUT = (
    b"<", b">", b"</", b"<!--", b"-->", b"<![CDATA[", b"<?xml version='1.0'?>",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"&#0;", b"&#x110000;", b"&nbsp",
    b"<table><tr><td rowspan=99999 colspan=-1>", b"<table>" * 50, b"<div>" * 400, b"<ul><li>" * 60,
    b"</div>" * 50, b"<script>", b"<style>", b"<plaintext>", b"<h1>", b"<math>",
    b"<meta charset=utf-16>", b"<meta charset=nonsense>", b"```", b"~~~\n", b"`" * 300,
    b"#" * 7 + b" x", b"---\n", b"| a | b |\n|---|\n", b"|" * 500, b"[a](" * 60, b"![", b"*" * 200,
    b"_" * 200, b"> " * 200, b"1. " * 200, b"\\" * 200, b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf",
    b"\0", b"\r", b"\x0b\x0c\x1c\x85", b"\xd0", b"\xe2\x80", "\u202e\u2066\u200b\u00ad\ufeff".encode(),
    "\ud800".encode("utf-8", "surrogatepass"), "е\u0301" .encode() * 300,
    "Предел".encode("cp1251") * 20, "доза".encode("koi8-r") * 20, "x".encode("utf-16"), b"a-\n" * 100,
    b" " * 5_000, b"\n" * 3_000, b"\t" * 1_000, b"9" * 5_000, b". " * 1_000, b"....... 12\n" * 40,
    b"- a: [\n", b"&a *a\n", b"!!int x\n",
    *(text.encode("utf-8", "surrogatepass") for text in TEXTS if len(text) < 5_000),
)  # fmt: skip
PDF_PUT = (
    b"/JavaScript (app.alert(1))", b"/OpenAction", b"/Count 999999999", b"/Kids [1 0 R]",
    b"/Length 99999999", b"/Prev 0", b"/Size 2147483647", b"1 0 obj << >> endobj", b"stream\n",
    b"endstream", b"xref\n0 1\n", b"/Type /Page", b"/Filter [/FlateDecode /FlateDecode]", b"<<" * 400,
    b"[" * 400, b"(" * 400, b"%%EOF", b"/MediaBox [0 0 9e9 9e9]", b"/MediaBox [0 0 0 0]", b"/Rotate 45",
    b"q " * 500, b"\0" * 100,
)  # fmt: skip
MANIFEST = (
    b"documents:\n  - file: a.md\n    id: a\n    topic: safety\n    tier: 2\n    valid_from: 2024-01-01\n"
    b"    labels: [public]\n  - {file: b.html, topic: physics, valid_to: 2027-01-01}\n"
)
Mutate = Callable[[bytes, random.Random], bytes]


@cache
def seeds(kind: str) -> Sequence[bytes]:
    """Whole files of a kind to begin with."""
    if kind == "manifest":
        return (MANIFEST,)
    suffix = {"markdown": "md", "text": "md"}.get(kind, kind)
    folder = BUILT if suffix in {"docx", "pdf"} else DOCUMENTS
    found = [path.read_bytes() for path in sorted(folder.rglob(f"*.{suffix}"))]
    return [data for data in found if suffix in {"docx", "pdf"} or len(data) < LONGEST]


def mutated(kind: str, number: int) -> bytes:
    """The mutated file of this kind and number."""
    dice = random.Random(f"{kind} {number}")
    data = dice.choice(seeds(kind))
    for _ in range(dice.randrange(1, 4)):
        data = dice.choice(MUTATIONS.get(kind, TEXTUAL))(data, dice)
    return data


def cut(data: bytes, dice: random.Random) -> bytes:
    """A part of it."""
    first = dice.randrange(len(data) or 1)
    return data[first:] if dice.random() < 0.3 else data[:first]


def put(data: bytes, dice: random.Random) -> bytes:
    """With something hostile in the middle."""
    at = dice.randrange(len(data) + 1)
    return data[:at] + dice.choice(PUT) + data[at:]


def put_pdf(data: bytes, dice: random.Random) -> bytes:
    """With something of PDF in the middle; half of the time over what was there."""
    at, piece = dice.randrange(len(data) + 1), dice.choice(PDF_PUT)
    return data[:at] + piece + data[at + dice.choice((0, len(piece))) :]


def doubled(data: bytes, dice: random.Random) -> bytes:
    """With a part of it many times."""
    at = dice.randrange(len(data) or 1)
    return data[:at] + data[at : at + dice.randrange(1, 80)] * dice.randrange(2, 60) + data[at:]


def swapped(data: bytes, dice: random.Random) -> bytes:
    """Two parts of it change places."""
    one, two, three = sorted(dice.randrange(len(data) + 1) for _ in range(3))
    return data[:one] + data[two:three] + data[one:two] + data[three:]


def flipped(data: bytes, dice: random.Random) -> bytes:
    """With some bytes changed in place, so that lengths and offsets stay right."""
    some = bytearray(data)
    for _ in range(dice.randrange(1, 40) if some else 0):
        some[dice.randrange(len(some))] = dice.randrange(256)
    return bytes(some)


def coded(data: bytes, dice: random.Random) -> bytes:
    """In another encoding."""
    encoding = dice.choice(("utf-16", "utf-16-be", "utf-32", "cp1251", "koi8-r", "latin-1", "utf-7"))
    return data.decode("utf-8", "replace").encode(encoding, "replace")


def repacked(data: bytes, dice: random.Random) -> bytes:
    """A DOCX with one of its files mutated, left out or put in twice."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = {one.filename: archive.read(one) for one in archive.infolist()}
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError, EOFError, OSError):
        return broken(data, dice)
    name = dice.choice([one for one in entries if one.endswith((".xml", ".rels"))] or list(entries) or ["x"])
    entries[name] = dice.choice((put, doubled, swapped, flipped, cut))(entries.get(name, b""), dice)
    if dice.random() < 0.2:
        del entries[dice.choice(list(entries))]
    return packed(entries)


def packed(entries: Mapping[str, bytes]) -> bytes:
    """A ZIP archive of these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return out.getvalue()


TEXTUAL: Sequence[Mutate] = (cut, put, put, put, doubled, swapped, flipped, broken, coded)
MUTATIONS: Mapping[str, Sequence[Mutate]] = {
    "docx": (repacked, repacked, repacked, flipped, cut, broken),
    "pdf": (put_pdf, put_pdf, flipped, flipped, swapped, cut, doubled, broken),
}
