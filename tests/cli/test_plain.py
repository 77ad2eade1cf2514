"""Replies as JSON that scripts can rely on."""

import json

from cli.plain import plain
from radrag.assistant.v1 import assistant_pb2 as pb
from tests import assistant


def test_every_field_of_the_contract_is_there_under_its_own_name() -> None:
    found = plain(pb.GenerateResponse())
    assert list(found) == [field.name for field in pb.GenerateResponse.DESCRIPTOR.fields]


def test_enums_are_words_without_their_prefix() -> None:
    assert plain(pb.GenerateResponse(outcome=pb.OUTCOME_ANSWERED))["outcome"] == "ANSWERED"
    assert plain(assistant.WARNING)["kind"] == "DEGRADED"


def test_a_value_of_a_newer_server_stays_visible() -> None:
    assert plain(pb.GenerateResponse.FromString(b"\x08\x63"))["outcome"] == "UNKNOWN_99"


def test_durations_are_seconds_and_large_counts_are_numbers() -> None:
    assert plain(assistant.stages()[0])["duration"] == 0.0125
    assert plain(pb.Manifest(index_revision=2**40))["index_revision"] == 2**40


def test_an_optional_field_is_null_when_unset_and_a_number_when_set() -> None:
    assert plain(pb.Scores(dense=0.1)) == {"dense": 0.1, "bm25": None, "fused": None, "rerank": None}


def test_a_whole_reply_survives_json() -> None:
    reply = pb.GenerateResponse(ranked_parents=[assistant.parent()], citations=[assistant.CITATION])
    found = json.loads(json.dumps(plain(reply)))
    assert found["ranked_parents"][0]["document"]["title"] == "Пределы доз"
    assert found["ranked_parents"][0]["pages"] == [2, 3]
    assert found["citations"][0]["verified"] is True
