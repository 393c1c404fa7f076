// A server for tests, by hand: it says what it is told to say, and dies when it is told to die.
import { createInterface } from "node:readline";

const [mode = ""] = process.argv.slice(2);
process.stderr.write(`started as ${process.pid}\n`);

if (mode === "greets") process.stdout.write("Welcome to the server!\n");
if (mode === "dies") process.exit(3);

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: "by-hand", version: "1" },
    instructions: "Do as you like.",
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [{ name: "die", inputSchema: { type: "object" } }] }),
  "logging/setLevel": () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (mode === "hangs" || id === undefined) continue;
  if (method === "tools/call") process.exit(9);
  if (method === "tools/list") process.stdout.write("Listing the tools!\n");
  const answer = RESULTS[method];
  if (answer === undefined) send({ id, error: { code: -32601, message: `no ${method}` } });
  else send({ id, result: answer(params) });
}
