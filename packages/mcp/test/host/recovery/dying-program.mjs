// A server by hand, over stdin and stdout, that SIGKILL ends the first times it is asked for something.
//
// Arguments: a file that counts the starts, the method to die at, how many times.
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file, fatal, times] = process.argv.slice(2);
appendFileSync(file, `${process.pid}\n`);
const starts = readFileSync(file, "utf8").trim().split("\n").length;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (words) => ({ content: [{ type: "text", text: words }] });

/** Ids of calls whose question is open. */
const asked = new Map();

const answers = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "dying", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: ["hello", "ask"].map((name) => ({ name, inputSchema: { type: "object" } })) }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) {
    send({ id: asked.get(id), result: text(`answered ${error?.message ?? result.action}`) });
    return;
  }
  if (method === fatal && starts <= Number(times)) process.kill(process.pid, "SIGKILL");
  if (id === undefined) return;
  if (method === "tools/call" && params.name === "ask") {
    asked.set("q1", id);
    const schema = { type: "object", properties: { ok: { type: "boolean" } } };
    send({ id: "q1", method: "elicitation/create", params: { message: "Go on?", requestedSchema: schema } });
    if (fatal === "question" && starts <= Number(times)) setTimeout(() => process.kill(process.pid, "SIGKILL"), 50);
    return;
  }
  if (method === "tools/call") return send({ id, result: text("hello") });
  const answer = answers[method];
  if (answer === undefined) send({ id, error: { code: -32601, message: "Method not found" } });
  else send({ id, result: answer() });
});
