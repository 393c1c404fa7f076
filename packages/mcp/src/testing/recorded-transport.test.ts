import { connect, Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { recordedTransport } from "./recorded-transport.js";

describe("the recorded transport", () => {
  it("has no server: the test sees what was sent, and injects the answers", async () => {
    const transport = recordedTransport();
    expect(transport.lastSent).toBeUndefined();
    const connecting = connect(transport, { revisions: ["2025-11-25"] });
    await expect.poll(() => transport.lastSent?.method).toBe("initialize");
    const greeting = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "by hand", version: "1" } };
    transport.inject({ jsonrpc: "2.0", id: transport.lastSent?.id, result: greeting });
    const client = await connecting;
    expect(client.serverInfo?.name).toBe("by hand");
    expect(transport.sent.map(({ method }) => method)).toEqual(["initialize", "notifications/initialized"]);
    const faults: Error[] = [];
    client.on("fault", (error) => faults.push(error));
    transport.inject("no JSON");
    await expect.poll(() => faults.length).toBe(1);
    transport.inject({ jsonrpc: "2.0", id: "q", method: "ping" });
    await expect.poll(() => transport.lastSent).toEqual({ jsonrpc: "2.0", id: "q", result: {} });
    expect(transport.closed).toBe(false);
    await client.close();
    await expect.poll(() => transport.closed).toBe(true);
  });

  it("records what passes between a client and a server, and says more beside it", async () => {
    const server = new Server({ name: "real", version: "1" }).tool("hello", {}, () => "hello");
    const methods: (string | undefined)[] = [];
    const transport = recordedTransport({ server, onSent: ({ method }) => methods.push(method) });
    const client = await connect(transport, { revisions: ["2026-07-28"] });
    expect(await client.call("hello")).toBe("hello");
    expect(transport.lastSent).toMatchObject({ method: "tools/call", params: { name: "hello" } });
    expect(methods).toEqual(transport.sent.map(({ method }) => method));
    const all = client.notifications();
    transport.inject({ jsonrpc: "2.0", method: "notifications/acme", params: { n: 1 } });
    expect((await all.next()).value).toEqual({ method: "notifications/acme", params: { n: 1 }, missed: 0 });
    transport.end();
    await expect.poll(() => transport.closed).toBe(true);
    expect(await client.tryCall("hello")).toMatchObject({ ok: false, error: { kind: "connection_closed" } });
    await client.close();
  });
});
