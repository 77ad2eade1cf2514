"""The clock is set back by years, and forward: each document is found once, in its newest version."""

from datetime import date
from pathlib import Path

import pytest

from radrag.knowledge.v1 import knowledge_pb2 as wire
from tests.ingest.knowledge import knowledge

QUESTION = "What is the lens dose limit a year?"
STEPS = (date(2020, 1, 1), date(2031, 6, 1), date(2026, 12, 1), date(2026, 11, 30), date(1999, 12, 31))


@pytest.mark.parametrize("steps", [STEPS, STEPS[::-1]], ids=["back first", "forward first"])
async def test_a_clock_that_is_set_loses_and_doubles_no_document(
    steps: tuple[date, ...], tmp_path: Path
) -> None:
    async with knowledge(tmp_path) as base:
        other = await base.all_the_way(
            "other", "# Other\n\nThe lens dose limit, another matter.", topic="physics"
        )
        for number, day in enumerate(steps):
            base.days[0] = day
            newest = await base.all_the_way("lens", f"# Lens\n\nThe lens dose limit is {number + 10} a year.")
            assert [one for one in await base.found(QUESTION) if one != other] == [newest], day
        base.days[0] = date(2026, 12, 1)  # right again
        assert sorted(await base.found(QUESTION)) == sorted([newest, other])
        listed = (await base.stub.ListDocuments(wire.ListDocumentsRequest())).documents
        published = [one.metadata.document_id for one in listed if one.state == wire.STATE_PUBLISHED]
        assert sorted(published) == ["lens", "other"]
