"""Tensors as Triton's own client writes and reads them, without its arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tritonclient.grpc import InferInput, service_pb2
from tritonclient.utils import np_to_triton_dtype

from radrag.triton import tensors

Values = np.typing.NDArray[Any]


def theirs(model: str, **given: Values) -> Any:
    """The same request, by Triton's client."""
    request = service_pb2.ModelInferRequest(model_name=model)
    for name, values in given.items():
        tensor = InferInput(name, list(values.shape), np_to_triton_dtype(values.dtype))
        tensor.set_data_from_numpy(values)
        request.inputs.append(tensor._get_tensor())
        request.raw_input_contents.append(tensor._get_content())
    return request


def texts(*rows: str, shape: Sequence[int] = (-1, 1)) -> Values:
    return np.array([row.encode() for row in rows], np.object_).reshape(shape)


@pytest.mark.parametrize("spans", [(), ((0, 4),), ((0, 4), (2, 9))])
def test_a_text_and_its_spans_are_sent_as_tritons_client_would(spans: Sequence[tuple[int, int]]) -> None:
    rows = np.asarray(spans, np.int32).reshape(1, -1, 2)
    wanted = theirs("e5", TEXT=texts("доза \N{MICRO SIGN}Sv"), TASK=texts("query"), SPANS=rows)
    assert tensors.embedding("e5", "доза \N{MICRO SIGN}Sv", "query", spans) == wanted


@pytest.mark.parametrize("passages", [("one",), ("one", "", "третий")])
def test_pairs_are_sent_as_tritons_client_would(passages: Sequence[str]) -> None:
    wanted = theirs("m", QUERY=texts(*["вопрос"] * len(passages)), PASSAGE=texts(*passages))
    assert tensors.reranking("m", "вопрос", passages) == wanted


def test_a_prompt_is_sent_as_tritons_client_would() -> None:
    flags = {name: np.array([True]) for name in tensors._TRUE}
    sampling = texts('{"seed": 7}', shape=(1,))
    wanted = theirs("g", text_input=texts("prompt", shape=(1,)), sampling_parameters=sampling, **flags)
    assert tensors.generation("g", "prompt", {"seed": 7}) == wanted


def reply(raw: bytes, kind: str = "FP32", shape: Sequence[int] = (1, 2)) -> Any:
    said = service_pb2.ModelInferResponse(raw_output_contents=[raw])
    said.outputs.add(name="SCORE", datatype=kind, shape=shape)
    return said


def test_numbers_are_read_in_their_kind_and_shape() -> None:
    assert tensors.array(reply(np.array([0.5, 2], "<f4").tobytes()), "SCORE").tolist() == [[0.5, 2.0]]
    assert tensors.array(reply(b"\0\1", "BOOL"), "SCORE").tolist() == [[False, True]]
    assert tensors.array(reply(np.array([7, -1], "<i4").tobytes(), "INT32"), "SCORE").tolist() == [[7, -1]]


@pytest.mark.parametrize(
    "said",
    [
        reply(b""), reply(b"\0" * 8, shape=(3,)), reply(b"\0" * 7), reply(b"\0" * 8, "BYTES"),
        service_pb2.ModelInferResponse(),
    ],
    ids=["empty", "another shape", "half a number", "no numbers", "missing"],
)  # fmt: skip
def test_what_is_no_such_tensor_is_said(said: Any) -> None:
    with pytest.raises((KeyError, ValueError)):
        tensors.array(said, "SCORE")
