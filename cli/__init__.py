"""The command line: `radrag …` and `python -m cli` are the same."""

import os

# gRPC reads it when it is first imported; its notes on connections are not for people.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
