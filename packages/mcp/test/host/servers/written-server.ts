import type { HostServer } from "@parley/mcp/host";

/** What every such server knows of itself, before its own code. */
const FRAME = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const reply = (id, result) => send({ id, result });
const refuse = (id, code = -32601) => send({ id, error: { code, message: "refused" } });
const changed = (list) => send({ method: "notifications/" + list + "/list_changed" });
const tool = (name) => ({ name, inputSchema: { type: "object" } });
const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
let capabilities = { tools: { listChanged: true } };
const asked = {};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  asked[method] = (asked[method] ?? 0) + 1;
  if (method === "initialize") {
    const serverInfo = { name: "written", version: "1" };
    return reply(id, { protocolVersion: params.protocolVersion, capabilities, serverInfo });
  }
  if (method === "ping") return reply(id, {});
  if (handle(id, method, params, asked[method]) === undefined) return;
  refuse(id);
});
process.stdin.on("end", () => process.exit());
`;

/**
 * A program that speaks the protocol line by line, for what a `Server` would never do. `code` defines
 * `handle(id, method, params, count)`, which returns undefined for what it answers itself.
 */
export function writtenServer(code: string): HostServer {
  return { command: process.execPath, args: ["-e", `${FRAME}\n${code}`] };
}
