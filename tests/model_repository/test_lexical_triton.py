"""The reranker as callers meet it: on a real Triton, over gRPC."""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest
import pytest_asyncio
from e5_encoder import Encoder
from late_interaction import LONGEST_PASSAGE, LateInteraction
from tritonclient.grpc import aio
from tritonclient.utils import InferenceServerException

from cli.model_environment import MODEL_REPOSITORY
from cli.triton_server import TritonServer
from tests.model_repository.conftest import FILES
from tests.model_repository.test_e5_triton import settled

MODEL = "lexical_late_interaction"
QUESTION = "Каков предел дозы для персонала за год?"
PASSAGES = [
    "Предел эффективной дозы персонала составляет 20 мЗв в год.",
    "The effective dose limit for workers is 20 mSv per year. 🩻",
    "Печень делят на восемь сегментов по Куино.",
    "Журнал учёта доз хранят в архиве. " * 80 + "Предел дозы персонала 20 мЗв в год.",
]
Pairs = Sequence[tuple[bytes, bytes]]


@pytest_asyncio.fixture
async def client(triton: TritonServer) -> AsyncIterator[aio.InferenceServerClient]:
    async with aio.InferenceServerClient(triton.grpc) as client:
        yield client


async def score(client: aio.InferenceServerClient, pairs: Pairs) -> aio.InferResult:
    tensors = []
    for name, column in zip(("QUERY", "PASSAGE"), zip(*pairs, strict=True), strict=True):
        tensors.append(aio.InferInput(name, [len(pairs), 1], "BYTES"))
        tensors[-1].set_data_from_numpy(np.array(column, np.object_).reshape(-1, 1))
    return await client.infer(MODEL, tensors)


def pairs(*passages: str) -> Pairs:
    return [(QUESTION.encode(), passage.encode()) for passage in passages]


async def test_rows_come_back_as_the_model_scores_them_in_process(
    client: aio.InferenceServerClient, encoder: Encoder
) -> None:
    reply = await score(client, pairs(*PASSAGES))
    model = LateInteraction.load(MODEL_REPOSITORY / MODEL / "1", FILES)
    here = [scored.score for scored in model.score([(QUESTION, passage) for passage in PASSAGES])]
    scores, truncated = reply.as_numpy("SCORE"), reply.as_numpy("TRUNCATED")
    assert (scores.shape, scores.dtype) == ((4, 1), np.float32)
    assert (truncated.shape, truncated.dtype, bool(truncated.any())) == ((4, 1), np.bool_, False)
    np.testing.assert_allclose(scores[:, 0], here, atol=1e-4)


async def test_sixteen_concurrent_calls_share_executions_and_change_nothing(
    client: aio.InferenceServerClient, triton: TritonServer
) -> None:
    jobs = [pairs(f"{PASSAGES[at % 3]} {at}", PASSAGES[(at + 1) % 3]) for at in range(16)]
    alone = [(await score(client, job)).as_numpy("SCORE") for job in jobs]
    before = await settled(triton, MODEL)
    together = await asyncio.gather(*(score(client, job) for job in jobs))
    after = await settled(triton, MODEL)
    assert after["success"] - before["success"] == 16
    assert after["exec"] - before["exec"] < 16
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one, other.as_numpy("SCORE"), atol=1e-4)


@pytest.mark.parametrize(
    ("query", "passage", "message"),
    [
        (b"", b"text", "QUERY must not be empty"),
        (b"secret", b" \n", "PASSAGE must not be empty"),
        (b"caf\xe9 secret", b"text", "QUERY is not UTF-8"),
        (b"secret", b"\xff\xfe", "PASSAGE is not UTF-8"),
    ],
)
async def test_a_bad_request_fails_alone_with_invalid_argument(
    client: aio.InferenceServerClient, query: bytes, passage: bytes, message: str
) -> None:
    good = asyncio.gather(*(score(client, pairs(f"{PASSAGES[0]} {at}")) for at in range(4)))
    with pytest.raises(InferenceServerException, match=message) as failure:
        await score(client, [(QUESTION.encode(), PASSAGES[0].encode()), (query, passage)])
    assert failure.value.status() == "StatusCode.INVALID_ARGUMENT"
    assert "secret" not in str(failure.value)
    assert all(0 < reply.as_numpy("SCORE")[0, 0] < 1 for reply in await good)


async def test_a_row_with_nothing_to_read_is_nan_and_the_others_are_scored(
    client: aio.InferenceServerClient,
) -> None:
    reply = await score(client, [(b"?!", PASSAGES[0].encode()), *pairs(PASSAGES[0])])
    nothing, something = reply.as_numpy("SCORE")[:, 0]
    assert math.isnan(nothing)
    assert 0 < something < 1


async def test_a_passage_beyond_what_is_ever_read_is_called_truncated(
    client: aio.InferenceServerClient,
) -> None:
    reply = await score(client, pairs("слово " * LONGEST_PASSAGE, PASSAGES[0]))
    assert reply.as_numpy("TRUNCATED")[:, 0].tolist() == [True, False]
