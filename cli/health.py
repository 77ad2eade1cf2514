"""Is a service taking calls? Asked over health ports and of the model server, with short deadlines."""

import grpc
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from cli import ports
from radrag.triton import ModelServer

HEALTH_ABOVE = 100  # a service's health port above its own


async def serving(address: str, seconds: float = 1.0) -> bool:
    """Whether the service at host:port says SERVING on its health port."""
    host, port = ports.split(address)
    async with aio.insecure_channel(f"{host}:{port + HEALTH_ABOVE}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        try:
            reply = await stub.Check(health_pb2.HealthCheckRequest(), timeout=seconds)
        except grpc.RpcError:
            return False
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)


async def models_not_ready(url: str, models: tuple[str, ...]) -> list[str]:
    """The models the server at `url` does not serve yet."""
    server = ModelServer(url, "model server")
    try:
        return [model for model in models if not await server.ready(model, seconds=1.0)]
    finally:
        await server.close()
