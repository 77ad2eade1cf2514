"""Quotes the sentences of the first source word by word, 20 ms apart, until it wrote `max_tokens` words.

One thread writes for all streams, in turns: two that talk to Triton at once are not needed for a word in 20
ms.
"""

import json
import re
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils

SOURCE = re.compile(r'<source number="1".*?>\n(.*?)\n</source>', re.DOTALL)
SENTENCE = re.compile(r"[^.!?\n]{40,}[.!?]")
SECONDS = 0.02


class TritonPythonModel:
    def initialize(self, args):
        self.streams, self.turn = [], threading.Condition()
        threading.Thread(target=self.write, daemon=True).start()

    def execute(self, requests):
        with self.turn:
            self.streams += [(one.get_response_sender(), words(one)) for one in requests]
            self.turn.notify()

    def write(self):
        due = time.monotonic()
        while True:
            with self.turn:
                while not self.streams:
                    self.turn.wait()
                    due = time.monotonic()
                now = list(self.streams)
            over = [stream for stream in now if not step(*stream)]
            with self.turn:
                self.streams = [stream for stream in self.streams if stream not in over]
            due = max(due + SECONDS, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))


def step(sender, left):
    """Writes one word; whether more are left. A stream that nobody reads any more is ended."""
    if sender.is_cancelled():
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        return False
    word = left.pop()
    sender.send(
        piece(word, last=not left), flags=0 if left else pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL
    )
    return bool(left)


def words(request):
    """The words to write, last first."""
    prompt, sampling = text(request, "text_input"), json.loads(text(request, "sampling_parameters"))
    source = SOURCE.search(prompt)
    said = SENTENCE.findall(source.group(1)) if source else ["Nothing is said about this in any source."]
    lines = [f"- “{one.strip()}” [1]\n" for one in said]
    written = [word + " " for line in lines for word in line.split(" ")]
    wanted = int(sampling["max_tokens"])
    return (written * (wanted // len(written) + 1))[:wanted][::-1]


def text(request, name):
    return pb_utils.get_input_tensor_by_name(request, name).as_numpy().ravel()[0].decode()


def piece(word, last):
    outputs = {
        "text_output": np.array([word.encode()], np.object_),
        "finish_reason": np.array([b"stop" if last else b"None"], np.object_),
        "num_input_tokens": np.array([1], np.uint32),
        "num_output_tokens": np.array([1], np.uint32),
    }
    return pb_utils.InferenceResponse([pb_utils.Tensor(name, value) for name, value in outputs.items()])
