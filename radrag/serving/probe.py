"""Asks a server of ours for its health: status 0 when it serves.

Run: python -m radrag.serving.probe HOST:PORT [SERVICE]

PORT is the health port, 100 above the server's own.
"""

import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc


def serving(address: str, service: str = "", seconds: float = 2.0) -> bool:
    """Whether the service says SERVING within `seconds`."""
    with grpc.insecure_channel(address) as channel:
        try:
            request = health_pb2.HealthCheckRequest(service=service)
            reply = health_pb2_grpc.HealthStub(channel).Check(request, timeout=seconds)
        except grpc.RpcError:
            return False
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)


if __name__ == "__main__":
    sys.exit(0 if serving(sys.argv[1], "".join(sys.argv[2:3])) else 1)
