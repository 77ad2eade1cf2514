"""Compiles normalisation rules into a SentencePiece `precompiled_charsmap`, with the sentencepiece package.

SentencePiece compiles the map only while it trains, so a toy model is trained and its map taken out. The
package's built-in `nmt_nfkc` is not used: it differs from the vocabulary's own map on 174 code points.
"""

import io
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import sentencepiece

Rules = Mapping[tuple[int, ...], tuple[int, ...]]

# Field numbers of sentencepiece_model.proto: ModelProto.normalizer_spec, NormalizerSpec.precompiled_charsmap.
NORMALIZER_SPEC, PRECOMPILED_CHARSMAP = 3, 2
TOY_SENTENCES = [f"toy sentence number {number} {chr(97 + number % 26) * 3}" for number in range(200)]


def precompiled(rules: Rules) -> bytes:
    """Code point sequences -> their replacements, in the form `tokenizers.normalizers.Precompiled` reads."""
    lines = (f"{points(source)}\t{points(target)}\n" for source, target in rules.items())
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="ascii") as table:
        table.writelines(lines)
        table.flush()
        return charsmap(trained(Path(table.name)))


def points(sequence: tuple[int, ...]) -> str:
    return " ".join(f"{point:X}" for point in sequence)


def trained(rule_table: Path) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TOY_SENTENCES),
        model_writer=model,
        vocab_size=60,
        hard_vocab_limit=False,
        model_type="unigram",
        minloglevel=2,
        normalization_rule_tsv=str(rule_table),
    )
    return model.getvalue()


def charsmap(model: bytes) -> bytes:
    return dict(fields(dict(fields(model))[NORMALIZER_SPEC]))[PRECOMPILED_CHARSMAP]


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields of a protobuf message; the others are skipped over."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        match key & 7:
            case 2:
                size, at = varint(message, at)
                yield key >> 3, message[at : at + size]
                at += size
            case 0:
                _, at = varint(message, at)
            case kind:
                at += {1: 8, 5: 4}[kind]


def varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, at = message[at], at + 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
