import { connect as connectTcp } from "node:net";
import { Server } from "@parley/mcp";
import { serveHttp, serveSocket, serveWebSocket } from "@parley/mcp/node";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { platform } from "../../src/node/platform.js";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const server = () => new Server({ name: "t", version: "1" }).tool("t", {}, () => "x");

/** A check that never decides, and what the server warns of. */
function undecided() {
  const warnings: string[] = [];
  const quiet = { ...platform, warn: (text: string) => void warnings.push(text) };
  return {
    warnings,
    options: { authenticate: () => new Promise<never>(() => {}), authenticateMs: 50, platform: quiet },
  };
}

const WARNING = "`authenticate` did not decide within 50 ms (`authenticateMs`), so the sender is refused";

describe("an `authenticate` that never decides", () => {
  it("refuses an HTTP request with 503 after `authenticateMs`, and gives its place back", async () => {
    const { options, warnings } = undecided();
    const handle = await serveHttp(server(), { port: 0, limits: { maxInFlight: 1 }, ...options });
    ends.push(() => handle.close());
    for (let turn = 0; turn < 3; turn++) {
      const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
      const response = await fetch(handle.url, { method: "POST", body });
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("5");
      expect(await response.text()).toContain("the sender could not be identified in time");
    }
    expect(warnings).toEqual([WARNING, WARNING, WARNING]);
  });

  it("refuses a WebSocket, and closes a socket", async () => {
    const { options, warnings } = undecided();
    const web = await serveWebSocket(server(), { port: 0, ...options });
    ends.push(() => web.close());
    const opening = new WebSocket(web.url, ["mcp"]);
    const refused = await new Promise<Error>((resolve) => opening.once("error", resolve));
    expect(refused.message).toContain("503");
    const { authenticate, authenticateMs, platform: own } = options;
    const tcp = await serveSocket(server(), { port: 0 }, { authenticate, authenticateMs, platform: own });
    ends.push(() => tcp.close());
    const socket = connectTcp(Number(new URL(tcp.url).port), "127.0.0.1");
    await new Promise((resolve) => socket.once("close", resolve));
    expect(warnings).toEqual([WARNING, WARNING]);
  });
});
