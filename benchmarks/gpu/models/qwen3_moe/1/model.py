"""Triton's side of a mixture of experts with random weights. The model is benchmarks/gpu/moe.py."""

import json
import sys

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        entries = json.loads(args["model_config"])["parameters"]
        given = {key: entry["string_value"] for key, entry in entries.items()}
        root = given["root"]
        sys.path += [root, f"{root}/model_repository/frida/1"]
        from local_model import Place  # noqa: PLC0415 - both are found from here on

        from benchmarks.gpu.moe import Writer  # noqa: PLC0415
        from benchmarks.gpu.sizes import Size  # noqa: PLC0415

        place = Place(given["device"], given["precision"])
        self.writer = Writer(Size(*json.loads(given["size"])), place.device, place.dtype)

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        ids, count = (
            pb_utils.get_input_tensor_by_name(request, name).as_numpy() for name in ("IDS", "COUNT")
        )
        written = self.writer.write(ids.tolist(), int(count[0, 0]))
        return pb_utils.InferenceResponse([pb_utils.Tensor("WRITTEN", np.array(written, np.int32))])
