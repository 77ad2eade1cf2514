"""`radrag mcp` beside the running stack: what an assistant is told is what the gateway answers."""

import sys
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from cli import places
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.client import AsyncClient
from tests.cli.test_mcp import told
from tests.integration.conftest import Stack

HELD, SAFETY = "What does the knowledge base hold about contrast media?", ["safety"]


async def test_both_tools_answer_from_the_stack_over_standard_input_and_output(light: Stack) -> None:
    async with (
        AsyncClient(light.gateway, 60) as gateway,
        Client(stdio_client(command(light))) as assistant,
    ):
        answered = await told(assistant, "ask", question=HELD, topics=SAFETY)
        found = await told(assistant, "search", question=HELD, topics=SAFETY)
        nothing = await told(assistant, "ask", question=HELD, topics=["templates"])
        # Of the same topics: other tests publish theirs on this stack.
        expected = await gateway.generate(HELD, pb.Filter(topics=SAFETY))
    assert (answered["outcome"], answered["text"]) == ("ANSWERED", expected.text)
    assert [one["verified"] for one in answered["citations"]] == [True]
    cited = {one.parent_id for one in expected.citations}
    titles = {one.document.title for one in expected.ranked_parents if one.parent_id in cited}
    assert {one["title"] for one in answered["sources"]} == titles
    assert (nothing["outcome"], nothing["citations"]) == ("INSUFFICIENT_EVIDENCE", [])
    assert [one["text"] for one in found["sources"]] == [one.text for one in expected.ranked_parents]


def command(stack: Stack) -> StdioServerParameters:
    """The installed program, as an assistant's settings name it."""
    program = str(Path(sys.executable).parent / "radrag")
    return StdioServerParameters(command=program, args=["mcp"], env=dict(stack.environ), cwd=str(places.ROOT))
