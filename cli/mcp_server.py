"""`radrag mcp`: the knowledge base as tools for assistants, by the Model Context Protocol over stdio.

It asks the gateway as anybody does: with this process's key or token, under the same limits and deadlines.
"""

import argparse
from collections.abc import Mapping, Sequence

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from cli import connection
from cli.exits import Exit
from cli.plain import plain
from cli.terminal import Terminal
from radrag import telemetry
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.client import AsyncClient
from radrag.errors import RadragError
from radrag.settings import Settings

INSTRUCTIONS = (
    "Answers radiology reference questions from an approved knowledge base in English and Russian. Cite what "
    "it cites, with the source's title and address. When the outcome is not ANSWERED, say so; do not fill in."
)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Serves until standard input ends. Standard output belongs to the protocol."""
    settings = Settings.from_environ(environ)
    async with connection.gateway(settings, given.timeout, given.address) as client:
        await tools(client).run_stdio_async()
    return Exit.OK


def tools(client: AsyncClient) -> MCPServer:
    """The server with its tools over this client."""
    server = MCPServer("radrag", instructions=INSTRUCTIONS, version=telemetry.version(), log_level="WARNING")

    @server.tool(annotations=READS)
    async def ask(question: str, topics: list[str] = [], as_of: str = "") -> dict[str, object]:  # noqa: B006
        """Answers a question with checked citations. `as_of` (YYYY-MM-DD): sources in force on that day."""
        try:
            reply = await client.generate(question, _filter(topics, as_of))
        except RadragError as error:
            raise ToolError(f"{error.reason}: {error.message}") from None
        cited = {one.parent_id for one in reply.citations}
        return {
            **_said(reply, "outcome", "text", "citations", "warnings", "request_id"),
            "sources": [_source(one) for one in reply.ranked_parents if one.parent_id in cited],
        }

    @server.tool(annotations=READS)
    async def search(question: str, topics: list[str] = [], as_of: str = "") -> dict[str, object]:  # noqa: B006
        """Finds the passages that bear on a question, best first, with their text. The outcome is advice."""
        try:
            reply = await client.search(question, _filter(topics, as_of))
        except RadragError as error:
            raise ToolError(f"{error.reason}: {error.message}") from None
        return {
            **_said(reply, "outcome", "warnings", "request_id"),
            "sources": [{**_source(one), "text": one.text} for one in reply.ranked_parents],
        }

    return server


def _filter(topics: Sequence[str], as_of: str) -> pb.Filter:
    return pb.Filter(topics=topics, as_of=as_of or None)


def _said(reply: pb.GenerateResponse | pb.SearchResponse, *names: str) -> dict[str, object]:
    told = plain(reply)
    return {name: told[name] for name in names}


def _source(parent: pb.RankedParent) -> dict[str, object]:
    about = parent.document
    return {
        "marker": parent.rank,
        "title": about.title,
        "heading_path": list(parent.heading_path),
        "source_uri": about.source_uri,
        "document": f"{about.document_id}@{about.version}",
        "language": about.language,
        "pages": list(parent.pages),
    }
