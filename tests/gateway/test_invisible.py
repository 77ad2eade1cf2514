"""Characters that nobody sees do not keep the words of a question from being found."""

import pytest

from gateway.questions import Rules
from radrag.assistant.v1 import assistant_pb2 as wire


def asked(text: str) -> str:
    return Rules(("safety",)).read(wire.SearchRequest(question=text)).text


@pytest.mark.parametrize("sign", ["\u200b", "\u00ad", "\u2060", "\ufeff", "\U000e0041"])
def test_what_nobody_sees_is_taken_out(sign: str) -> None:
    assert asked(f"S{sign}A{sign}R limit") == "SAR limit"


def test_a_composed_letter_is_one_whatever_stood_within_it() -> None:
    assert asked("й") == asked("и\u200b\u0306") == "й"


def test_joiners_by_which_a_script_spells_stay() -> None:
    assert asked("می\u200cخواهم") == "می\u200cخواهم"
