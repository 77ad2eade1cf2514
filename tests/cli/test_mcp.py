"""`radrag mcp`: an assistant finds two tools and gets answers with their sources, over the real protocol."""

import sys
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from cli import mcp_server, places
from radrag import serving
from radrag.client import AsyncClient
from tests.gateway.channel import QUESTION, service
from tests.gateway.fakes import ANSWER, PIPELINE


async def test_tools_answer_with_citations_and_faults_are_words() -> None:
    server = await serving.start(service(PIPELINE).add_to, "127.0.0.1:0")
    try:
        async with (
            AsyncClient(f"127.0.0.1:{server.port}", 10) as gateway,
            Client(mcp_server.tools(gateway)) as assistant,
        ):
            listed = (await assistant.list_tools()).tools
            assert [one.name for one in listed] == ["ask", "search"]
            answered = await told(assistant, "ask", question=QUESTION)
            assert (answered["outcome"], answered["text"]) == ("ANSWERED", ANSWER.rstrip())
            assert answered["citations"][0]["verified"]
            assert [one["title"] for one in answered["sources"]] == ["Title of workers"]
            found = await told(assistant, "search", question=QUESTION, topics=["safety"])
            assert found["sources"][0]["text"].startswith("The annual dose limit")
            refused = await assistant.call_tool("ask", {"question": ""})
            assert refused.is_error
            assert "question" in refused.content[0].text  # type: ignore[union-attr]
    finally:
        await server.stop()


async def told(assistant: Client, tool: str, **given: object) -> Any:
    reply = await assistant.call_tool(tool, given)
    assert not reply.is_error, reply.content
    assert reply.structured_content is not None
    return reply.structured_content


async def test_the_command_serves_over_standard_input_and_output() -> None:
    server = await serving.start(service(PIPELINE).add_to, "127.0.0.1:0")
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "cli", "mcp", "--address", f"127.0.0.1:{server.port}"],
        cwd=str(places.ROOT),
    )
    try:
        async with Client(stdio_client(command)) as assistant:
            assert (await told(assistant, "ask", question=QUESTION))["outcome"] == "ANSWERED"
    finally:
        await server.stop()
