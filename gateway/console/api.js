// Calls the service: JSON, or a stream of events. A failure is a Problem with the service's own words.

import { t } from "./words.js";

export class Problem extends Error {
  constructor(body) {
    super([body.detail || body.title || t("unreachable"), body.retry_after ? t("retry")(Math.ceil(body.retry_after)) : ""].filter(Boolean).join(" "));
    Object.assign(this, body);
  }
}

const KEY = "radrag-credential";
export const credential = {
  get: () => sessionStorage.getItem(KEY) || "",
  set: (value) => (value ? sessionStorage.setItem(KEY, value) : sessionStorage.removeItem(KEY)),
};

async function send(path, body, headers = {}, signal = undefined) {
  const shown = credential.get();
  const reply = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(shown ? { Authorization: `Bearer ${shown}` } : {}),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  }).catch((fault) => broken(fault, "unreachable"));
  if (!reply.ok) throw new Problem(await reply.json().catch(() => ({ title: reply.statusText, status: reply.status })));
  return reply;
}

// What the browser says of a lost connection is no sentence for a reader; that the reader stopped it is no failure.
function broken(fault, word) {
  throw fault.name === "AbortError" ? fault : new Problem({ detail: t(word), status: 0 });
}

export const ask = async (path, body) => (await send(path, body)).json();

// Ends when a message is the `last` one; a stream that ends without it was cut off on its way.
export async function* stream(path, body, last, signal) {
  const reply = await send(path, body, { Accept: "text/event-stream" }, signal);
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch((fault) => broken(fault, "lost"));
    if (done) throw new Problem({ detail: t("lost"), status: 0 });
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const [, kind, data] = event.match(/^event: (.*)\ndata: (.*)$/);
      if (kind === "error") throw new Problem(JSON.parse(data));
      const message = JSON.parse(data);
      yield message;
      if (last(message)) return;
    }
  }
}
