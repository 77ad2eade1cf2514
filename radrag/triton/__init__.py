"""The one door to Triton: texts in, vectors, scores and tokens out, by the tensors of the three roles."""

from radrag.triton.server import Embedding, ModelServer, Score, Vectors
from radrag.triton.tensors import Piece

__all__ = ["Embedding", "ModelServer", "Piece", "Score", "Vectors"]
