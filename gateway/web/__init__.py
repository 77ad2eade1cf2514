"""HTTP for those who do not speak gRPC: JSON, server-sent events and the console, over the same service."""
