"""Quotes the first source's first long line at once and then every ten seconds, until somebody cancels.

Hundreds of streams at once cost next to nothing, so that what holds them is measured. Two gauges on the
server's own metrics: slow_sentences_running and slow_sentences_cancelled.
"""

import re
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils

SOURCE = re.compile(r'^<source number="1".*?>\n(.*?)\n</source>$', re.MULTILINE | re.DOTALL)
SENTENCES, EVERY, LOOK = 60, 10.0, 0.5  # EVERY and LOOK in seconds


class TritonPythonModel:
    def initialize(self, args):
        family = pb_utils.MetricFamily(
            name="slow_sentences", description="Streams.", kind=pb_utils.MetricFamily.GAUGE
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
        with self.alone:
            self.running.increment(1)
        for _ in range(SENTENCES):
            with self.alone:
                if sender.is_cancelled():
                    break
                sender.send(piece(f"- {sentence} [1]\n"))
            if self.left(sender):
                break
        with self.alone:
            if sender.is_cancelled():
                self.cancelled.increment(1)
            self.running.increment(-1)
            sender.send(piece("", b"length"), flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    def left(self, sender):
        end = time.monotonic() + EVERY
        while time.monotonic() < end:
            time.sleep(LOOK)
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
