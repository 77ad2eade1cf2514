// Asks one question, prints the answer as it is written, then its sources. Run: make languages
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { AssistantService, Outcome, type RankedParent } from "./stubs/radrag/assistant/v1/assistant_pb.js";

const address = process.env.RADRAG_GATEWAY_ADDRESS ?? "127.0.0.1:50051";
const key = process.env.RADRAG_KEY;
// Plaintext is for this machine; a gateway beyond it is called by https.
const service = createClient(AssistantService, createGrpcTransport({ baseUrl: `http://${address}` }));

let sources: RankedParent[] = [];
// A call without a deadline may wait for ever; the service stops working when it passes.
const terms = { timeoutMs: 60_000, headers: key ? { authorization: `Bearer ${key}` } : undefined };
for await (const { event } of service.generateStream({ question: process.argv[2] }, terms)) {
  if (event.case === "sources") sources = event.value.rankedParents;
  if (event.case === "text") process.stdout.write(event.value);
  if (event.case === "finish") {
    console.log(`\n${Outcome[event.value.outcome]}: ${event.value.reason}`);
    for (const one of event.value.citations) {
      const title = sources[one.marker - 1].document?.title;
      console.log(`[${one.marker}] ${title}: ${one.quote}${one.verified ? " ✓" : ""}`);
    }
  }
}
