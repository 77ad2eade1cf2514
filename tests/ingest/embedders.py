"""A Triton of its own that serves one embedder: the null one of the tests, or one of the product."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cli.model_environment import MODEL_REPOSITORY
from cli.process import Child
from cli.triton_server import TritonServer
from tests.conftest import ran
from tests.ports import free_grpc_port

NULL = "null_embedder"
NULL_MODELS = Path(__file__).parents[1] / "integration" / "models"


@contextmanager
def served(model: str, folder: Path) -> Iterator[str]:
    """Its gRPC address."""
    repository = NULL_MODELS if model == NULL else MODEL_REPOSITORY
    server = TritonServer(Child("embedder", folder), (model,), free_grpc_port(), repository=repository)
    ran(server.start(300))
    try:
        yield server.grpc
    finally:
        ran(server.stop())
