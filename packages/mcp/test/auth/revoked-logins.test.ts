import { Server } from "@parley/mcp";
import { serveWebSocket } from "@parley/mcp/node";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { ORIGIN, ProxyUnderAttack, type Tokens } from "./proxy-under-attack.js";
import { message } from "./resource-fixture.js";

let proxy: ProxyUnderAttack;
let client = "";
const cleanups: (() => unknown)[] = [];
beforeAll(async () => {
  proxy = await ProxyUnderAttack.start();
  proxy.addNode();
  client = await proxy.register();
});
afterAll(() => proxy.close());
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const HEADERS = { accept: "application/json, text/event-stream", "content-type": "application/json" };

/** Opens an event stream on the first node; `ended` resolves when it ends. */
async function opened(init: RequestInit & { headers: Record<string, string> }) {
  const response = await proxy.nodes[0]?.(new Request(`${ORIGIN}/mcp`, init));
  expect([response?.status, response?.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  return { ended: response?.text() };
}

/** A subscription of the stateless era. */
function listen({ access_token }: Tokens) {
  const headers = {
    ...HEADERS,
    authorization: `Bearer ${access_token}`,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "subscriptions/listen",
  };
  const body = JSON.stringify(message("subscriptions/listen", { notifications: { toolsListChanged: true } }));
  return opened({ method: "POST", headers, body });
}

/** The stream of a session. */
async function sessionStream({ access_token }: Tokens) {
  const headers = { ...HEADERS, authorization: `Bearer ${access_token}`, "mcp-protocol-version": "2025-11-25" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const answer = await proxy.nodes[0]?.(new Request(`${ORIGIN}/mcp`, { method: "POST", headers, body }));
  const session = answer?.headers.get("mcp-session-id") ?? "";
  return opened({ headers: { ...headers, accept: "text/event-stream", "mcp-session-id": session } });
}

const revoke = (token: string, node: number, clientId = client) =>
  proxy.send("POST", "/oauth/revoke", { form: { token, client_id: clientId } }, node);

describe("AUTHS-11: what a revoked login has opened is closed at once", () => {
  it.each([
    ["a subscription", listen],
    ["the stream of a session", sessionStream],
  ])("%s, by a request to the same node or to another", async (_name, open) => {
    for (const node of [0, 1]) {
      const tokens = await proxy.login(client);
      const { ended } = await open(tokens);
      expect((await revoke(tokens.refresh_token, node)).status).toBe(200);
      await ended;
    }
  });

  it("a WebSocket, on which no call is answered any more", async () => {
    const [auth] = proxy.proxies;
    if (auth === undefined) throw new Error("there is no proxy");
    const server = new Server({ name: "shop", version: "1" }).tool("who", (_args, ctx) => String(ctx.auth?.subject));
    const handle = await serveWebSocket(server, { port: 0, auth });
    cleanups.push(() => handle.close());
    const tokens = await proxy.login(client);
    const headers = { authorization: `Bearer ${tokens.access_token}`, host: "shop.example" };
    const socket = new WebSocket(handle.url, ["mcp"], { headers });
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("error", () => {});
    await new Promise((resolve) => socket.on("open", resolve));
    const answer = new Promise((resolve) => socket.once("message", (data) => resolve(String(data))));
    socket.send(JSON.stringify(message("tools/call", { name: "who", arguments: {} })));
    expect(await answer).toContain("ada");
    await revoke(tokens.access_token, 1);
    await closed;
  });

  it("also by an old refresh token that comes again, and by nobody who is not its client", async () => {
    const other = await proxy.register();
    const tokens = await proxy.login(client);
    let isOpen = true;
    const { ended } = await listen(tokens);
    const noted = ended?.then(() => {
      isOpen = false;
    });
    await revoke(tokens.access_token, 1, other);
    const replaced = (await (await proxy.refresh(client, tokens.refresh_token)).json()) as { refresh_token: string };
    // The last one that was replaced may come again for a minute, those before it may not.
    await proxy.refresh(client, replaced.refresh_token);
    expect([isOpen, await proxy.status(tokens.access_token)]).toEqual([true, 200]);
    await proxy.refresh(client, tokens.refresh_token, 1);
    await noted;
  });

  it("and the logins of others stay open", async () => {
    const [mine, theirs] = [await proxy.login(client), await proxy.login(client)];
    let isOpen = true;
    const open = (await listen(theirs)).ended?.then(() => {
      isOpen = false;
    });
    const { ended } = await listen(mine);
    await revoke(mine.access_token, 1);
    await ended;
    expect([isOpen, await proxy.status(theirs.access_token)]).toEqual([true, 200]);
    await revoke(theirs.access_token, 0);
    await open;
  });
});
