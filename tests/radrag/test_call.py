"""A call's caller, id and remaining time travel from process to process."""

import time

import pytest

from radrag import call
from radrag.errors import DeadlineExceeded


def test_outside_of_a_call_the_default_caller_sees_public_documents() -> None:
    assert call.current().caller == call.Caller("dev", frozenset(), frozenset({"public"}))


def test_metadata_survives_a_hop() -> None:
    one = call.Call(call.Caller("anna", frozenset({"reader"}), frozenset({"public", "icu"})), None, "r1")
    with call.running(one):
        sent = dict(call.outgoing_metadata())
    assert call.from_metadata(sent, None) == one


def test_every_caller_may_see_public_documents() -> None:
    assert "public" in call.from_metadata({call.LABELS: "icu"}, None).caller.labels


def test_time_left_is_the_smaller_of_cap_and_deadline() -> None:
    with call.running(call.Call(deadline=time.monotonic() + 1)):
        assert 0.5 < call.time_left(10) <= 1
        assert call.time_left(0.25) == 0.25
    assert call.time_left(10) == 10


def test_a_passed_deadline_stops_the_next_step() -> None:
    with call.running(call.Call(deadline=time.monotonic() - 1)), pytest.raises(DeadlineExceeded):
        call.time_left(10)
