"""Which parts of a long passage the encoder gets to read."""

import numpy as np
from e5_encoder import Encoder
from matching import Vocabulary
from question import subject_words
from reading import BUDGET, LONGEST_PIECE, WINDOW_OVERHEAD, holdings, pieces, windows
from sentences import sentences
from words import words

FILLER = "Этот раздел описывает порядок хранения бумажных журналов в архиве отделения. "
ANSWER = "Предел дозы для хрусталика глаза равен 20 мЗв в год. "


def chosen(encoder: Encoder, question: str, text: str) -> list[str]:
    asked, read = subject_words(question), words(text)
    spans, costs = pieces(sentences(text), encoder.tokens(text, "passage: "))
    weights = np.ones(len(asked), np.float32)
    found = windows(spans, costs, lambda: holdings(asked, spans, read), weights)
    return [text[start:end] for start, end in found]


def test_a_short_passage_is_read_whole(encoder: Encoder) -> None:
    text = "# Заголовок\n\n" + ANSWER
    assert chosen(encoder, "Каков предел дозы?", text) == [text]


def test_of_a_long_passage_the_heading_and_the_matching_sentence_are_read(encoder: Encoder) -> None:
    text = "# Нормы\n\n" + FILLER * 40 + ANSWER + FILLER * 40
    read = chosen(encoder, "Каков предел дозы для хрусталика?", text)
    assert read[0].startswith("# Нормы")
    assert any(ANSWER in window for window in read)


def test_without_a_matching_word_the_beginning_is_read(encoder: Encoder) -> None:
    text = "# Нормы\n\n" + FILLER * 60
    (read,) = chosen(encoder, "Who wrote this?", text)
    assert text.startswith(read)


def test_what_is_read_stays_within_the_budget(encoder: Encoder) -> None:
    for text in ("слово " * 4000, FILLER * 60 + ANSWER, "🙂" * 3000, "а" * 9000):
        read = chosen(encoder, "Каков предел дозы?", text)
        cost = sum(len(encoder.tokens(window, "passage: ").ids) + WINDOW_OVERHEAD for window in read)
        assert cost <= BUDGET + WINDOW_OVERHEAD


def test_pieces_cover_the_sentences_and_none_is_too_long(encoder: Encoder) -> None:
    text = "слово " * 1000 + ". " + ANSWER
    spans, costs = pieces(sentences(text), encoder.tokens(text, "passage: "))
    assert "".join(text[start:end] for start, end in spans) == text
    assert max(costs) <= LONGEST_PIECE


def test_a_window_holds_what_its_words_hold() -> None:
    text = "Доза мала. Почка цела."
    held = holdings(subject_words("доза почки"), [(0, 11), (11, 22)], words(text))
    assert held.tolist() == [[1, 0], [0, 1]]
    assert Vocabulary([]).likeness(words("доза")[0]) == 0
