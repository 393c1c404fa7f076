import { existsSync } from "node:fs";
import { connect } from "@parley/mcp";
import { lintTools } from "@parley/mcp/lint";
import { enforceLock, lockOf } from "@parley/mcp/lock";
import { stdioTransport } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import { peerPath } from "../interop/peer-process.js";

const SERVERS = [
  { name: "server-everything", args: ["stdio"] },
  { name: "server-filesystem", args: [peerPath(".")] },
  { name: "server-memory", args: [] },
].map(({ name, args }) => {
  return { name, args: [peerPath(`node_modules/@modelcontextprotocol/${name}/dist/index.js`), ...args] };
});
const installed = SERVERS.filter(({ args: [program = ""] }) => existsSync(program));
if (installed.length < SERVERS.length) {
  const missing = SERVERS.filter((server) => !installed.includes(server)).map(({ name }) => name);
  console.log(`not linted, because they are not installed (\`npm run peers\`): ${missing.join(", ")}`);
}

describe.skipIf(installed.length === 0)("servers of others", () => {
  it.each(installed)("$name: no error is found, and its own lock holds", async ({ args }) => {
    await using client = await connect(stdioTransport({ command: process.execPath, args }));
    const tools = await client.allTools();
    expect(tools.length).toBeGreaterThan(0);
    expect(lintTools(tools).filter(({ severity }) => severity === "error")).toEqual([]);
    const { drift } = await enforceLock(client, await lockOf(client));
    expect(drift).toEqual([]);
    expect(await client.allTools()).toEqual(tools);
  });
});
