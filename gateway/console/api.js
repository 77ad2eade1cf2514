// Calls the service: JSON, or a stream of events. A failure is a Problem with the service's own words.

export class Problem extends Error {
  constructor(body) {
    super(body.detail || body.title || "The service did not answer.");
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
  });
  if (!reply.ok) throw new Problem(await reply.json().catch(() => ({ title: reply.statusText })));
  return reply;
}

export const ask = async (path, body) => (await send(path, body)).json();

export async function* stream(path, body, signal) {
  const reply = await send(path, body, { Accept: "text/event-stream" }, signal);
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const [, kind, data] = event.match(/^event: (.*)\ndata: (.*)$/);
      if (kind === "error") throw new Problem(JSON.parse(data));
      yield JSON.parse(data);
    }
  }
}
