// Reads of resources, from the parsed request to the text of the answer, among 10,000 resources and 100 templates.
import { Server } from "@parley/mcp";
import { requestText } from "../../messages.js";
import { answerRounds, repeatNow } from "../../rounds.mjs";

const byTemplate = process.argv[2] === "template";
const server = new Server({ name: "bench", version: "1.0.0" });
for (let at = 0; at < 10_000; at++) server.resource(`file:///docs/${at}.txt`, { mimeType: "text/plain" }, () => "text");
for (let at = 0; at < 100; at++) {
  server.resourceTemplate(`db${at}://rows/{id}`, { mimeType: "text/plain" }, ({ id }) => id);
}
const endpoint = server.endpoint();
const exchange = { id: 1, signal: new AbortController().signal, send: () => {} };
const uris = Array.from({ length: 1000 }, (_, at) =>
  byTemplate ? `db${at % 100}://rows/${at}` : `file:///docs/${at * 10}.txt`,
);
const requests = uris.map((uri) => JSON.parse(requestText("2026", 1, "resources/read", { uri })));

function read(): number {
  for (const request of requests) {
    const answer = endpoint.request(endpoint.accept(request), exchange);
    if (answer instanceof Promise || !answer.text.includes('"contents"')) throw new Error("nothing was read");
  }
  return requests.length;
}

answerRounds((ms) => repeatNow(ms, requests.length, read));
