"""Behaves towards a client as the vLLM backend does, with an engine that quotes the first source.

A word is a token; one takes 10 ms. As in the vLLM backend:
- the prompt comes in front of an answer that is not streamed, unless excluded; to stream it so is an error;
- the engine's outputs are cumulative, what is sent are deltas; several tokens may come in one piece, a piece
  may be empty, and the last one may hold a token without text: the end's own;
- finish_reason is the word None while writing; num_input_tokens is a number without a dimension;
- sampling parameters that are no JSON count as none and fail later, with a vague text; a boolean is bool(...)
  of what was sent, so that the string "false" is true; max_tokens is 16 when unsaid;
- an error is a text in the stream, with "N/A" beside it, and its code says nothing;
- a cancel is noticed between two outputs.
Gauges on the server's own metrics: vllm_like{state="running"}, vllm_like{state="cancelled"}.
"""

import json
import re
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils

LINE = re.compile(r'<source number="1".*?>\n(.*?)\n</source>', re.DOTALL)
LONGEST = 20_000  # tokens of a prompt
# Triton 2.51 falls when two threads talk to it at once, one of them about a stream that was just cancelled.
TURN = threading.Lock()
FURTHER = ("finish_reason", "num_input_tokens", "num_output_tokens")


class TritonPythonModel:
    def initialize(self, args):
        family = pb_utils.MetricFamily(
            name="vllm_like", description="Requests.", kind=pb_utils.MetricFamily.GAUGE
        )
        self.running = family.Metric(labels={"state": "running"})
        self.cancelled = family.Metric(labels={"state": "cancelled"})
        self.family = family

    def execute(self, requests):
        for request in requests:
            threading.Thread(target=self.infer, args=(request, request.get_response_sender())).start()
        return None

    def infer(self, request, sender):
        alone(self.running.increment, 1)
        try:
            self.generate(request, sender)
        except Exception as error:  # noqa: BLE001 - as the backend does
            failure = pb_utils.TritonError(f"Error generating stream: {error}")
            text = pb_utils.Tensor("text_output", np.asarray([b"N/A"], dtype=np.object_))
            final(sender, pb_utils.InferenceResponse([text], error=failure))
        finally:
            alone(self.running.increment, -1)

    def generate(self, request, sender):
        prompt = value(request, "text_input").decode()
        stream = bool(value(request, "stream") or False)
        excluded = value(request, "exclude_input_in_output")
        echo = not stream if excluded is None else not excluded
        if echo and stream:
            raise ValueError("When streaming, `exclude_input_in_output` = False is not allowed.")
        wanted = [name for name in FURTHER if value(request, f"return_{name}")]
        sampling = parsed(value(request, "sampling_parameters"))
        read = len(prompt.split())
        if read > LONGEST:
            raise ValueError(
                f"The decoder prompt (length {read}) is longer than the maximum model length of {LONGEST}."
            )
        last, sent, counted = None, 0, 0
        for text, tokens, reason in outputs(prompt, sampling):
            if alone(sender.is_cancelled):
                alone(self.cancelled.increment, 1)
                final(sender, refusal("Request was cancelled", pb_utils.TritonError.CANCELLED))
                return
            if stream:
                piece = response(wanted, text[sent:], reason, read, tokens - counted)
                alone(
                    sender.send, piece, flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL if reason else 0
                )
                sent, counted = len(text), tokens
            last = (text, reason, read, tokens)
        if not stream:
            text, *others = last
            final(sender, response(wanted, (prompt if echo else "") + text, *others))


def outputs(prompt, sampling):
    """What the engine yields: all text so far, its tokens, why it ended; two tokens at once at first."""
    most, stop = int(sampling.get("max_tokens", 16)), sampling.get("stop", [])
    endless = bool(sampling.get("ignore_eos", False))
    found = LINE.search(prompt)
    line = max((found.group(1) if found else prompt).splitlines(), key=len)
    words = re.findall(r"\S+\s*", f"According to the sources:\n- “{line}” [1]\n")
    text = ""
    for number in range(1, most + 1):
        time.sleep(0.01)
        if number > len(words) and not endless:
            yield text, number, "stop"  # the end is a token too, without a text
            return
        text += words[(number - 1) % len(words)]
        ends = [text.index(one) for one in stop if one in text]
        if ends:
            yield text[: min(ends)], number, "stop"
            return
        if number == most:
            yield text, number, "length"
            return
        if number != 1:
            yield text, number, None
        if number == 4:
            yield text, number, None


def parsed(text):
    """None where it is no JSON, as the backend has it: what comes of that is seen later."""
    try:
        return {} if text is None else json.loads(text)
    except ValueError:
        return None


def value(request, name):
    tensor = pb_utils.get_input_tensor_by_name(request, name)
    return None if tensor is None else tensor.as_numpy()[0]


def response(wanted, text, reason, read, written):
    further = {
        "finish_reason": np.asarray([str(reason)], dtype=np.object_),
        "num_input_tokens": np.asarray(read, dtype=np.uint32),
        "num_output_tokens": np.asarray([written], dtype=np.uint32),
    }
    outputs = [pb_utils.Tensor("text_output", np.asarray([text.encode()], dtype=np.object_))]
    return pb_utils.InferenceResponse(outputs + [pb_utils.Tensor(name, further[name]) for name in wanted])


def refusal(message, code):
    return pb_utils.InferenceResponse(error=pb_utils.TritonError(message=message, code=code))


def final(sender, last):
    alone(sender.send, last, flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)


def alone(talk, *words, **more):
    with TURN:
        return talk(*words, **more)
