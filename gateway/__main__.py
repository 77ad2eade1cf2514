"""Wires the gateway: settings → clients → traced stages → service → server. Start: `python -m gateway`."""

import asyncio
import gc
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvloop

from gateway import attributes, feedback, http, messages, retrieval, scope, shaping, shipped, thresholds
from gateway.breaker import Breaker, guarded, guarded_stream
from gateway.counts import WATCH, Counted
from gateway.deadlines import Seconds
from gateway.feedback import Feedback, Ratings
from gateway.health import INDEX, Readiness
from gateway.hedge import hedged
from gateway.index import CurrentIndex
from gateway.models import Embedder, Generator, Reranker, Weights
from gateway.nearness import Nearness
from gateway.openai_generator import OpenAIGenerator, Target, configured
from gateway.pipeline import Pipeline
from gateway.prompt import PromptWriter
from gateway.questions import Limits, Rules
from gateway.replies import Replies
from gateway.retrieval import Retrieval
from gateway.roles import Models, Served, check
from gateway.servers import Servers
from gateway.service import NAME, AssistantService
from gateway.sufficiency import Judge
from gateway.templates import MESSAGES, TEMPLATES
from gateway.verify import POLICIES, verify
from radrag import serving, telemetry
from radrag.access import channels
from radrag.access import opening as access
from radrag.account import Trail
from radrag.admission import limits
from radrag.audit import opening
from radrag.serving import NOT_SERVING, SERVING, Server
from radrag.settings import SettingError, Settings
from radrag.telemetry import traced
from radrag.triton import ModelServer

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Gateway:
    """The wired service, and what the background keeps fresh."""

    service: AssistantService
    checks: dict[str, Callable[[], Awaitable[bool]]]
    models: Models


def wire(
    settings: Settings,
    servers: Servers,
    index: Retrieval,
    record: Callable[[Feedback], Awaitable[str]] = feedback.not_configured,
) -> Gateway:
    """Everything the gateway is made of, connected. `record` keeps ratings."""
    template = MESSAGES if servers.openai else TEMPLATES[settings.generator_template]
    points = thresholds.load(shipped.file(settings.thresholds))
    if not points.calibrated:
        log.warning("the evidence thresholds are placeholders: calibrate them before use")
    current = CurrentIndex(index.describe)
    embedding_weights = Weights(servers.embedder)
    embedder = Embedder(
        servers.embedder, embedding_weights, current.get, settings.embedder_model, settings.query_cache
    )
    gates = scope.load(shipped.file(settings.scope))
    nearness = Nearness(gates, embedder.model, embedder.embed)
    reranker = Reranker(servers.reranker, settings.reranker_model)
    generator = servers.openai or Generator(
        servers.generator, settings.generator_model, _sampling(settings, template.stop)
    )
    writer = PromptWriter(template, settings.prompt_characters)

    def breaker(role: str) -> Breaker:
        return Breaker(role, settings.breaker_failures, settings.breaker_seconds)

    embed = guarded(breaker("embedder"), hedged(settings.hedge_embed_seconds, embedder.embed))
    rerank = guarded(breaker("reranker"), reranker.rerank)
    generate = guarded_stream(breaker("generator"), generator.generate)
    pipeline = Pipeline(
        scope=traced("scope", gates.gate),
        near_scope=nearness.gate,
        embed=traced("embed", embed, attributes=attributes.model(settings.embedder_model, "embeddings")),
        search=traced("search", index.search),
        rerank=traced("rerank", rerank, attributes=attributes.model(settings.reranker_model, "rerank")),
        prompt=traced("prompt", writer.write),
        generate=traced(
            "generate",
            generate,
            attributes=attributes.generation(
                settings.generator_kind,
                settings.openai_model if servers.openai else settings.generator_model,
                temperature=settings.temperature, top_p=settings.top_p, max_tokens=settings.max_tokens,
            ),
        ),
        verify=traced("verify", verify),
        generator_ready=generator.ready,
        renew_index=current.renew,
        judge=Judge(points, settings.reranker_model),
        messages=messages.load(shipped.file(settings.messages), gates.deferrals),
        seconds=Seconds(
            settings.embed_seconds, settings.search_seconds, settings.rerank_seconds,
            settings.generate_seconds,
        ),
        unsupported=settings.unsupported,
        watch=WATCH,
    )  # fmt: skip
    models = Models(
        {
            "embedder": Served(servers.embedder, settings.embedder_model, embedding_weights),
            "reranker": Served(servers.reranker, settings.reranker_model, Weights(servers.reranker)),
            "generator": servers.openai
            or Served(servers.generator, settings.generator_model, Weights(servers.generator)),
        }
    )
    service = AssistantService(
        Counted(pipeline),
        Rules(settings.topics, _limits(settings), settings.max_question_characters),
        Replies(models.named, shaping.sha256(settings)),
        current.seen,
        record,
        version=telemetry.version(),
    )
    checks = {INDEX: check(current.renew), **models.checks(), "scope": check(nearness.renew)}
    return Gateway(service, checks, models)


async def serve(settings: Settings) -> None:
    """Runs the gateway until SIGTERM or SIGINT."""
    with opening.opened(opening.plan(settings, "gateway"), settings.audit) as trail:
        async with running(settings, trail) as server:
            gc.freeze()  # what was imported stays: looking through it again stops every call for 60 ms
            await serving.until_stopped(server, settings.drain_seconds)


@asynccontextmanager
async def running(settings: Settings, trail: Trail = Trail()) -> AsyncIterator[Server]:  # noqa: B008
    """A started gateway; its background and its connections end with the block."""
    with http.socket(bool(settings.http_address)) as inside:
        async with _running(settings, trail, inside) as server:
            yield server


@asynccontextmanager
async def _running(settings: Settings, trail: Trail, inside: http.Socket) -> AsyncIterator[Server]:
    models_tls = channels.trusting(settings, settings.models_ca_file)
    servers = Servers(
        ModelServer(settings.embedder_url, "embedder", models_tls),
        ModelServer(settings.reranker_url, "reranker", models_tls),
        ModelServer(settings.generator_url, "generator", models_tls),
        _openai(settings),
    )
    doors = access.opened(
        settings, settings.gateway_address, settings.retrieval_address, settings.ingest_address
    )
    channel = retrieval.channel(settings.retrieval_address, doors.channels)
    index = Retrieval(channel, settings.children, settings.search_seconds)
    ingest = channels.channel(settings.ingest_address, doors.channels) if settings.ingest_address else None
    gateway = wire(settings, servers, index, Ratings(ingest).record if ingest else feedback.not_configured)
    server = await serving.start(
        inside.beside(gateway.service.add_to),
        settings.gateway_address,
        names=(NAME,) if settings.reflection else (),
        limits=limits.of(settings),
        metrics_host=settings.metrics_host,
        trail=trail,
        access=doors,
    )
    ready = Readiness(
        gateway.checks, _reporting(server, gateway.models), NAME, settings.model_patience_seconds
    )
    readiness = asyncio.create_task(ready.forever())
    try:
        async with http.running(settings, inside, doors):
            yield server
    finally:
        readiness.cancel()
        await asyncio.gather(readiness, return_exceptions=True)
        await channel.close(None)
        if ingest:
            await ingest.close(None)
        await servers.close()


def _reporting(server: Server, models: Models) -> Callable[[str, bool], Awaitable[None]]:
    async def report(name: str, there: bool) -> None:
        if name == NAME:
            models.tell()
            await server.ready(name, serving=there)
        else:
            await server.health.set(name, SERVING if there else NOT_SERVING)

    return report


def _openai(settings: Settings) -> OpenAIGenerator | None:
    if settings.generator_kind == "triton":
        return None
    channels.refuse_plaintext(
        settings, "RADRAG_OPENAI_API_KEY_FILE", settings.openai_api_key_file, settings.openai_url
    )
    target = Target(settings.openai_url, settings.openai_model, settings.openai_api_key_file)
    return configured(target, settings.openai_body, _sampling(settings, ()), settings.generate_seconds)


def _sampling(settings: Settings, stop: Iterable[str]) -> dict[str, object]:
    stops = list(stop)
    return {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "seed": settings.seed,
        **({"stop": stops} if stops else {}),
    }


def _limits(settings: Settings) -> Limits:
    return Limits(settings.children_per_topic, settings.candidates, settings.sources, settings.max_tokens)


def main() -> None:
    """Reads the settings and serves."""
    settings = Settings.from_environ(os.environ)
    telemetry.configure("gateway", settings.log_format)
    if settings.generator_template not in TEMPLATES:
        raise SettingError(f"RADRAG_GENERATOR_TEMPLATE must be one of {', '.join(TEMPLATES)}")
    if settings.generator_kind not in {"triton", "openai"}:
        raise SettingError("RADRAG_GENERATOR_KIND must be triton or openai")
    if settings.unsupported not in POLICIES:
        raise SettingError(f"RADRAG_UNSUPPORTED must be one of {', '.join(POLICIES)}")
    uvloop.run(serve(settings))


if __name__ == "__main__":
    main()
