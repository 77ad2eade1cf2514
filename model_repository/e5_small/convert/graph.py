"""The packed weights as an ONNX graph: input_ids, attention_mask [batch, tokens] -> last_hidden_state.

The 4-bit blocks are repacked, not requantised: every weight keeps its value. Linear layers are MatMulNBits
with accuracy level 4 (activations quantised to 8 bits in blocks of 32 within a token, so that a vector does
not depend on its batch); the word table is GatherBlockQuantized; all else is float32.
"""

import math

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from packed_model import BLOCK, PackedModel

MICROSOFT = "com.microsoft"
INT8_ACTIVATIONS = 4


class Graph:
    """Nodes and constants of one encoder in the making; every method returns the name of what it adds."""

    def __init__(self, model: PackedModel) -> None:
        self.model = model
        self.width = model.header.width
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def floats(self, name: str) -> str:
        return self.constant(name, self.model.floats(name))

    def node(self, kind: str, inputs: list[str], domain: str = "", **attributes: int | float) -> str:
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def linear(self, x: str, weight: str, bias: str, rows: int, columns: int) -> str:
        scales, values = self.model.blocks(weight)
        self.constant(weight, packed(values).reshape(rows, columns // BLOCK, BLOCK // 2))
        self.constant(f"{weight}.scales", scales.astype(np.float32))
        inputs = [x, weight, f"{weight}.scales", "", "", self.floats(bias)]
        sizes = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK}
        return self.node("MatMulNBits", inputs, MICROSOFT, **sizes, accuracy_level=INT8_ACTIVATIONS)

    def words(self) -> str:
        rows, blocks = self.model.header.vocabulary, self.width // BLOCK
        scales, values = self.model.blocks("emb.word")
        zeros = np.full(rows * blocks // 2, 0x88, np.uint8)
        self.constants.append(uint4("emb.word", [rows, self.width], packed(values)))
        self.constants.append(uint4("emb.word.zeros", [rows, blocks], zeros))
        self.constant("emb.word.scales", scales.reshape(rows, blocks))
        inputs = ["emb.word", "input_ids", "emb.word.scales", "emb.word.zeros"]
        layout = {"gather_axis": 0, "quantize_axis": 1, "block_size": BLOCK}
        rows_of_words = self.node("GatherBlockQuantized", inputs, MICROSOFT, **layout)
        return self.node("Cast", [rows_of_words], to=TensorProto.FLOAT)

    def positions(self) -> str:
        kind = self.model.floats("emb.type")[: self.width]
        table = self.model.floats("emb.pos").reshape(-1, self.width) + kind
        self.constant("zero", np.array([0], np.int64))
        length = self.node("Shape", ["input_ids"], start=1, end=2)
        return self.node("Slice", [self.constant("emb.position", table), "zero", length, "zero"])

    def embeddings(self) -> str:
        inputs = [self.node("Add", [self.words(), self.positions()])]
        inputs += [self.floats("emb.ln.w"), self.floats("emb.ln.b")]
        return self.node("LayerNormalization", inputs, axis=-1, epsilon=self.model.header.epsilon)

    def added_and_normalised(self, x: str, update: str, name: str) -> str:
        inputs = [x, update, self.floats(f"{name}.w"), self.floats(f"{name}.b")]
        return self.node("SkipLayerNormalization", inputs, MICROSOFT, epsilon=self.model.header.epsilon)

    def layer(self, x: str, mask: str, name: str) -> str:
        width, inner = self.width, self.model.header.inner
        q, k, v = (self.linear(x, f"{name}.{part}.w", f"{name}.{part}.b", width, width) for part in "qkv")
        heads = self.model.header.heads
        context = self.node("MultiHeadAttention", [q, k, v, "", mask], MICROSOFT, num_heads=heads)
        attended = self.linear(context, f"{name}.ao.w", f"{name}.ao.b", width, width)
        x = self.added_and_normalised(x, attended, f"{name}.aln")
        middle = self.node("Gelu", [self.linear(x, f"{name}.fi.w", f"{name}.fi.b", inner, width)], MICROSOFT)
        output = self.linear(middle, f"{name}.fo.w", f"{name}.fo.b", width, inner)
        return self.added_and_normalised(x, output, f"{name}.oln")


def encoder(model: PackedModel, kind: type[Graph] = Graph) -> onnx.ModelProto:
    """The whole encoder; `kind` says how its layers are made."""
    graph = kind(model)
    mask = graph.node("Cast", ["attention_mask"], to=TensorProto.INT32)
    x = graph.embeddings()
    for number in range(model.header.layers):
        x = graph.layer(x, mask, f"l{number}")
    graph.nodes[-1].output[0] = "last_hidden_state"
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(finished(graph), opset_imports=opsets, ir_version=10, producer_name="radrag")


def finished(graph: Graph) -> onnx.GraphProto:
    ids, mask = (
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    )
    states = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", graph.width]
    )
    return helper.make_graph(graph.nodes, "multilingual_e5_small", [ids, mask], [states], graph.constants)


def packed(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Two neighbouring 4-bit values in a byte, the first in its low half, as ONNX wants them."""
    pairs: NDArray[np.uint8] = values[:, 0::2] | values[:, 1::2] << np.uint8(4)
    return pairs


def uint4(name: str, shape: list[int], values: NDArray[np.uint8]) -> onnx.TensorProto:
    if values.size * 2 != math.prod(shape):
        raise ValueError(f"{name}: {values.size} bytes do not hold {shape}")
    return helper.make_tensor(name, TensorProto.UINT4, shape, values.tobytes(), raw=True)
