// Finds the handler of a request among those of 100 servers, by its path or by a header. What the handler does is not counted.
import { Server } from "@parley/mcp";
import { ServerRegistry } from "@parley/mcp/registry";
import { answerRounds, repeatNow } from "../../rounds.mjs";

const byHeader = process.argv[2] === "header";
const registry = new ServerRegistry();
for (let at = 0; at < 100; at++) registry.register(`server-${at}`, new Server({ name: "bench", version: "1.0.0" }));
const ended = Promise.resolve();
const end = () => ended;
const handler = registry.handler(
  () =>
    Object.assign((_request: object) => true, { closed: ended, drain: end, close: end, [Symbol.asyncDispose]: end }),
  { by: byHeader ? { header: "x-mcp-server" } : { path: "/mcp/" } },
);
const requests = Array.from({ length: 1000 }, (_, at) => ({
  url: byHeader ? "/mcp" : `/mcp/server-${at % 100}`,
  headers: { "x-mcp-server": `server-${at % 100}` },
}));

function route(): number {
  for (const request of requests) if (!handler(request)) throw new Error("nothing was found");
  return requests.length;
}

answerRounds((ms) => repeatNow(ms, requests.length, route));
