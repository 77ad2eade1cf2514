"""`radrag mcp`: an assistant finds two tools and gets answers with their sources, over the real protocol."""

import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from cli import mcp_server, places
from radrag import serving
from radrag.access.callers import Callers
from radrag.access.identity import Known
from radrag.access.opening import Access
from radrag.admission.limits import Limits
from radrag.admission.rates import Rates
from radrag.client import AsyncClient
from tests.gateway.channel import QUESTION, service
from tests.gateway.fakes import ANSWER, PIPELINE
from tests.gateway.web.asking import keys


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
    try:
        async with Client(stdio_client(command(server))) as assistant:
            assert (await told(assistant, "ask", question=QUESTION))["outcome"] == "ANSWERED"
    finally:
        await server.stop()


@pytest.mark.parametrize(
    ("credential", "said"),
    [("", ["NO_CREDENTIAL"]), ("nobody", ["ROLE_MISSING"]), ("reader", ["", "", "OVERLOADED_RATE"])],
)
async def test_it_is_a_caller_like_any_other(tmp_path: Path, credential: str, said: list[str]) -> None:
    """It has the rights of the key it shows, and the rate of whom it is for."""
    path, made = keys(tmp_path, reader={"roles": ["reader"]}, nobody={"roles": []})
    server = await serving.start(
        service(PIPELINE).add_to,
        "127.0.0.1:0",
        access=Access(Known(callers=Callers(path))),
        limits=Limits(rates=Rates(per_second=0.001, burst=2)),
    )
    (tmp_path / "key").write_text(made.get(credential, ""))
    environ = {"RADRAG_CREDENTIAL_FILE": str(tmp_path / "key")} if credential else {}
    try:
        async with Client(stdio_client(command(server, environ))) as assistant:
            for reason in said:
                reply = await assistant.call_tool("ask", {"question": QUESTION})
                assert reply.is_error == bool(reason)
                assert reason in reply.content[0].text  # type: ignore[union-attr]
    finally:
        await server.stop()


def command(server: serving.Server, environ: dict[str, str] | None = None) -> StdioServerParameters:
    words = ["-m", "cli", "mcp", "--address", f"127.0.0.1:{server.port}"]
    return StdioServerParameters(command=sys.executable, args=words, env=environ, cwd=str(places.ROOT))
