"""A tokenizer with obvious answers: up to four letters are a token, and so is every other visible sign."""

from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from ingest.tokens import TokenCounter


def counter(room: int = 508) -> TokenCounter:
    tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex(r"\w{1,4}|[^\w\s]"), "isolated")]
    )
    return TokenCounter(tokenizer, "0" * 64, room)
