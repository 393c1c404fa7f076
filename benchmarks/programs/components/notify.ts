// Deliveries of "this resource has changed" to subscribers in memory.
import { Server } from "@parley/mcp";
import { requestText } from "../../messages.js";
import { answerRounds, repeatNow } from "../../rounds.mjs";

const subscribers = Number(process.argv[2]);
const uri = "file:///docs/watched.txt";
const server = new Server({ name: "bench", version: "1.0.0" }, { limits: { listens: 100_000 } }).resource(
  uri,
  {},
  () => "text",
);
const endpoint = server.endpoint();
let heard = 0;

for (let id = 1; id <= subscribers; id++) {
  const request = JSON.parse(
    requestText("2026", id, "subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } }),
  );
  const say = () => {
    heard += 1;
  };
  void endpoint.request(endpoint.accept(request), { id, signal: new AbortController().signal, send: say });
}
await new Promise((resolve) => setImmediate(resolve));

function notify(): number {
  heard = 0;
  for (let at = 0; at < 10; at++) server.resourceUpdated(uri);
  if (heard !== subscribers * 10) throw new Error(`${heard} of ${subscribers * 10} deliveries arrived`);
  return heard;
}

answerRounds((ms) => repeatNow(ms, subscribers, notify));
