"""Quotes the first source's first long line over and over until somebody cancels; fails where none is long.

What it sends at once, and how often, is in its configuration. Hundreds of streams cost next to nothing. Two
gauges on the server's own metrics, of the model's name, count the streams that run and the cancelled.
"""

import json
import re
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils

SOURCE = re.compile(r'^<source number="1".*?>\n(.*?)\n</source>$', re.MULTILINE | re.DOTALL)
LOOK = 0.5  # seconds between two looks whether somebody has cancelled, at most


class TritonPythonModel:
    def initialize(self, args):
        parameters = json.loads(args["model_config"])["parameters"]
        given = {key: one["string_value"] for key, one in parameters.items()}
        self.words, self.pieces = given["unit"] == "word", int(given["pieces"])
        self.every = float(given["seconds_between"])
        family = pb_utils.MetricFamily(
            name=args["model_name"], description="Streams.", kind=pb_utils.MetricFamily.GAUGE
        )
        self.running = family.Metric(labels={"state": "running"})
        self.cancelled = family.Metric(labels={"state": "cancelled"})
        self.family = family
        # Two threads that talk to Triton 2.51 while a stream is cancelled bring the server down.
        self.alone = threading.Lock()

    def execute(self, requests):
        for request in requests:
            threading.Thread(target=self.write, args=(request.get_response_sender(), quote(request))).start()
        return None

    def write(self, sender, sentence):
        line = f"- {sentence} [1]\n"
        units = [f"{word} " for word in line.split(" ")] if self.words else [line]
        with self.alone:
            self.running.increment(1)
        for number in range(self.pieces):
            with self.alone:
                if sender.is_cancelled():
                    break
                sender.send(piece(units[number % len(units)]))
            if self.left(sender):
                break
        with self.alone:
            if sender.is_cancelled():
                self.cancelled.increment(1)
            self.running.increment(-1)
            sender.send(piece("", b"length"), flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    def left(self, sender):
        """Waits for the next piece's time; whether the caller has left meanwhile."""
        end = time.monotonic() + self.every
        while (remaining := end - time.monotonic()) > 0:
            time.sleep(min(remaining, LOOK))
            with self.alone:
                if sender.is_cancelled():
                    return True
        return False


def quote(request):
    prompt = pb_utils.get_input_tensor_by_name(request, "text_input").as_numpy()[0].decode()
    lines = [line for line in SOURCE.search(prompt).group(1).splitlines() if len(line) > 60]
    return f"“{lines[0]}”"


def piece(text, reason=b"None"):
    return pb_utils.InferenceResponse(
        [
            pb_utils.Tensor("text_output", np.array([text.encode()], dtype=np.object_)),
            pb_utils.Tensor("finish_reason", np.array([reason], dtype=np.object_)),
            pb_utils.Tensor("num_input_tokens", np.array([1], dtype=np.uint32)),
            pb_utils.Tensor("num_output_tokens", np.array([1], dtype=np.uint32)),
        ]
    )
