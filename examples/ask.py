"""Asks one question and prints the answer with its sources. Run: python examples/ask.py QUESTION"""

import os
import sys

from radrag import Client
from radrag.errors import RadragError

address = os.environ.get("RADRAG_GATEWAY_ADDRESS", "127.0.0.1:50051")
with Client(address, deadline=60) as client:
    try:
        print(client.ask(sys.argv[1]))
    except RadragError as error:
        sys.exit(f"{error.reason}: {error.message}")
