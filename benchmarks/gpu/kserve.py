"""A client of Triton's HTTP protocol with binary tensors, on the standard library and numpy alone.

The model servers' environment, where PyTorch is, has no other; a device machine may have no network.
"""

import http.client
import json
import struct
from collections.abc import Mapping
from threading import local

import numpy as np
from numpy.typing import NDArray

Tensor = NDArray[np.generic]
KINDS = {"object": "BYTES", "int32": "INT32", "float32": "FP32"}
LENGTH = "Inference-Header-Content-Length"


class Refusal(RuntimeError):
    """Triton did not answer with tensors."""


class Client:
    """For any number of threads: each has a connection of its own."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._own = local()

    def infer(self, model: str, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """One request. Arrays of objects hold bytes. Raises Refusal."""
        head, body = request(inputs)
        connection = self._connection()
        headers = {LENGTH: str(len(head))}
        connection.request("POST", f"/v2/models/{model}/infer", head + body, headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != http.client.OK:
            raise Refusal(f"{model} answers {answer.status}: {content[:200].decode(errors='replace')}")
        return response(content, int(answer.headers[LENGTH]))

    def _connection(self) -> http.client.HTTPConnection:
        if not hasattr(self._own, "connection"):
            self._own.connection = http.client.HTTPConnection(self.address, timeout=600)
        connection: http.client.HTTPConnection = self._own.connection
        return connection


def request(inputs: Mapping[str, Tensor]) -> tuple[bytes, bytes]:
    """The JSON head and the tensors behind it."""
    parts = {name: packed(value) for name, value in inputs.items()}
    described = [
        {
            "name": name,
            "shape": list(inputs[name].shape),
            "datatype": KINDS[inputs[name].dtype.name],
            "parameters": {"binary_data_size": len(part)},
        }
        for name, part in parts.items()
    ]
    head = {"inputs": described, "parameters": {"binary_data_output": True}}
    return json.dumps(head).encode(), b"".join(parts.values())


def packed(value: Tensor) -> bytes:
    if value.dtype != np.object_:
        return value.tobytes()
    return b"".join(struct.pack("<I", len(one)) + one for one in value.ravel().tolist())


def response(content: bytes, length: int) -> dict[str, Tensor]:
    """Numbers and truth values only: no answer that is measured here holds text."""
    place, found = length, {}
    for one in json.loads(content[:length])["outputs"]:
        size = one["parameters"]["binary_data_size"]
        kind = {"FP32": np.float32, "INT32": np.int32, "BOOL": np.bool_}[one["datatype"]]
        found[one["name"]] = np.frombuffer(content[place : place + size], kind).reshape(one["shape"])
        place += size
    return found
