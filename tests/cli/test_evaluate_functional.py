"""The question set can be asked as if the reranker had been killed, beside a service that runs."""

from cli import evaluate
from cli.evaluate_functional import without_reranker
from radrag.client import AsyncClient
from radrag.settings import Settings

NOWHERE = "127.0.0.1:1"


async def test_a_gateway_without_a_reranker_stands_beside_the_running_one() -> None:
    settings = Settings(
        retrieval_address=NOWHERE, embedder_url=NOWHERE, reranker_url="127.0.0.1:2", generator_url=NOWHERE
    )
    async with without_reranker(settings) as beside:
        assert beside.gateway_address != settings.gateway_address
        assert beside.reranker_url == settings.reranker_url  # the running one keeps its own
        async with AsyncClient(beside.gateway_address, 5.0) as client:
            assert (await client.info()).topics == list(settings.topics)


def test_it_is_an_option_of_the_functional_measurement() -> None:
    assert evaluate.parsed(["functional", "--without-reranker"]).without_reranker
    assert not evaluate.parsed(["functional"]).without_reranker
