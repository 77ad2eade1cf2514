"""`radrag ask | search | prompt`: one question to the gateway, its reply for people, pipes or programs."""

import argparse
import sys
from collections.abc import Mapping
from contextlib import aclosing

from cli import answer, connection, exits
from cli.plain import plain
from cli.terminal import Terminal
from radrag.assistant.v1 import assistant_pb2 as pb
from radrag.client import AsyncClient
from radrag.errors import InvalidArgument, Unavailable
from radrag.settings import Settings


async def run(given: argparse.Namespace, screen: Terminal, environ: Mapping[str, str]) -> int:
    """Asks, prints, and returns the status that tells the outcome."""
    settings = Settings.from_environ(environ)
    address = given.address or settings.gateway_address
    command = {"ask": _ask, "search": _search, "prompt": _prompt}[given.command]
    try:
        async with connection.gateway(settings, given.timeout, address) as client:
            return await command(client, given, screen)
    except Unavailable as error:
        if error.reason == "UNAVAILABLE":  # the network's word: no service of ours answered
            raise Unavailable(f"nothing answers at {address}; `radrag up` starts it") from error
        raise


async def _ask(client: AsyncClient, given: argparse.Namespace, screen: Terminal) -> int:
    streams = screen.people and not given.json if given.stream is None else given.stream
    if streams:
        return await _stream(client, given, screen)
    question = _question(given)
    reply = await client.generate(question, _filter(given), _limits(given))
    if given.json:  # with what was asked, so that `radrag replay` can ask it again
        asked = {"filter": plain(_filter(given)), "limits": plain(_limits(given))}
        screen.json({"question": question, **asked, **plain(reply)})
        return exits.of_outcome(reply.outcome)
    answer.outcome(screen, reply.outcome)
    screen.text(reply.text)
    answer.sources(screen, reply.ranked_parents, reply.citations)
    _rest(screen, given, reply)
    return exits.of_outcome(reply.outcome)


async def _stream(client: AsyncClient, given: argparse.Namespace, screen: Terminal) -> int:
    parents: list[pb.RankedParent] = []
    async with aclosing(client.stream(_question(given), _filter(given), _limits(given))) as frames:
        async for frame in frames:
            if given.json:
                screen.json(plain(frame), indent=None)
            elif frame.HasField("text"):
                screen.piece(frame.text)
            parents.extend(frame.sources.ranked_parents)
            if frame.HasField("finish"):
                return _finished(screen, given, frame.finish, parents)
    screen.note("radrag: the answer was cut off by the network")
    return exits.Exit.FAILURE


def _finished(
    screen: Terminal, given: argparse.Namespace, finish: pb.Finish, parents: list[pb.RankedParent]
) -> int:
    if not given.json:
        screen.text()
        answer.outcome(screen, finish.outcome)
        answer.sources(screen, parents, finish.citations)
        _rest(screen, given, finish)
    if finish.HasField("error"):
        screen.note(f"radrag: {finish.error.message}")
        return exits.BY_STATUS.get(finish.error.code, exits.Exit.FAILURE)
    return exits.of_outcome(finish.outcome)


async def _search(client: AsyncClient, given: argparse.Namespace, screen: Terminal) -> int:
    reply = await client.search(_question(given), _filter(given), _limits(given))
    if given.json:
        screen.json(plain(reply))
        return exits.Exit.OK
    answer.passages(screen, reply.ranked_parents)
    answer.outcome(screen, reply.outcome)
    _rest(screen, given, reply)
    return exits.Exit.OK  # its outcome is advice


async def _prompt(client: AsyncClient, given: argparse.Namespace, screen: Terminal) -> int:
    reply = await client.prompt(_question(given), _filter(given), _limits(given))
    if given.json:
        screen.json(plain(reply))
        return exits.of_outcome(reply.outcome)
    answer.outcome(screen, reply.outcome)
    screen.piece((reply.prompt or reply.message) + "\n")  # as the generator would get it: never wrapped
    _rest(screen, given, reply)
    return exits.of_outcome(reply.outcome)


def _rest(screen: Terminal, given: argparse.Namespace, reply: answer.Reply) -> None:
    answer.warnings(screen, reply)
    if given.stages:
        answer.stages(screen, reply.stages)


def _question(given: argparse.Namespace) -> str:
    if given.question != "-":
        return str(given.question)
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise InvalidArgument("question", "must be UTF-8 text") from None


def _filter(given: argparse.Namespace) -> pb.Filter:
    return pb.Filter(
        topics=given.topic,
        languages=given.language,
        categories=given.category,
        document_ids=given.document,
        as_of=given.as_of,
    )


def _limits(given: argparse.Namespace) -> pb.Limits:
    return pb.Limits(sources=given.sources, max_tokens=getattr(given, "max_tokens", None))
