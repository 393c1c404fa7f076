// Clients without any protocol: `fetch` as most people use it, and `node:http` with connections that stay open.
import { Agent, request } from "node:http";
import { callText, requestHeaders } from "../messages.js";
import { answerRounds, inFlight } from "../rounds.mjs";

const [url = "", kind] = process.argv.slice(2);
const headers = requestHeaders("2026", "tools/call", "add");
let id = 0;

async function byFetch(): Promise<unknown> {
  id += 1;
  const reply = await fetch(url, { method: "POST", headers, body: callText("2026", id) });
  return reply.json();
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

function byNode(): Promise<unknown> {
  id += 1;
  const body = callText("2026", id);
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent, headers: { ...headers, "content-length": body.length } });
    sent.on("error", reject);
    sent.on("response", (reply) => {
      let text = "";
      reply.setEncoding("utf8");
      reply.on("data", (chunk: string) => {
        text += chunk;
      });
      reply.on("end", () => resolve(JSON.parse(text)));
    });
    sent.end(body);
  });
}

answerRounds((ms) => inFlight(ms, 16, kind === "node" ? byNode : byFetch));
