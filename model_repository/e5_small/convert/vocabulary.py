"""The packed vocabulary as a Hugging Face tokenizer: the same ids as the package's own, with offsets.

Two deliberate choices. Canonical composition rules are added (и + U+0306 -> й), which PDF text needs and a
map of single code points cannot express. No special token is registered: "<s>" in a text stays text.
"""

import unicodedata
from collections.abc import Iterator

from charsmap import precompiled
from packed_model import PackedModel
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

METASPACE = "\u2581"
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)
SURROGATES = range(0xD800, 0xE000)


def tokenizer(model: PackedModel) -> Tokenizer:
    pieces = list(zip(model.pieces, model.scores, strict=True))
    result = Tokenizer(models.Unigram(pieces, unk_id=model.header.unk, byte_fallback=False))
    charsmap = precompiled(single_rules(model) | dict(composition_rules(model)))
    # The stubs lag behind the compiled module: these properties can be set.
    result.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(charsmap), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    result.pre_tokenizer = pre_tokenizers.Metaspace(METASPACE, prepend_scheme="always", split=True)
    result.decoder = decoders.Metaspace(METASPACE, prepend_scheme="always", split=True)
    result.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", model.header.bos), ("</s>", model.header.eos)],
    )
    return result


def single_rules(model: PackedModel) -> dict[tuple[int, ...], tuple[int, ...]]:
    return {(point,): replacement for point, replacement in model.rules.items()}


def composition_rules(model: PackedModel) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Decomposed spellings -> what the model's own rules make of the composed character."""
    for character in map(chr, composable_points()):
        parts = unicodedata.normalize("NFD", character)
        if len(parts) == 1 or unicodedata.normalize("NFC", parts) != character:
            continue
        target = replaced(model, character)
        yield code_points(parts), target
        partly = unicodedata.normalize("NFC", parts[:-1])
        if len(parts) > 2 and len(partly) == 1:
            yield code_points(partly + parts[-1]), target


def composable_points() -> Iterator[int]:
    """Hangul is left out: its 11,172 syllables compose by arithmetic, and no text here needs them."""
    return (
        point for point in range(0x80, 0x110000) if point not in SURROGATES and point not in HANGUL_SYLLABLES
    )


def replaced(model: PackedModel, text: str) -> tuple[int, ...]:
    return tuple(point for character in text for point in model.rules.get(ord(character), (ord(character),)))


def code_points(text: str) -> tuple[int, ...]:
    return tuple(map(ord, text))
