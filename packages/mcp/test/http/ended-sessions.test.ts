import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { fetchHandler } from "../../src/transport/http/server/fetch-handler.js";
import { faultyStorage } from "../extensions/tasks/faulty-storage.js";
import { gate } from "../extensions/tasks/nodes.js";

const ADDRESS = "http://localhost:3000/mcp";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
};

// Found by a seed of the simulation of tasks.
describe("a session that its client ends", () => {
  it("is not opened again by a GET request that was on its way", async () => {
    const storage = faultyStorage();
    const server = new Server({ name: "s", version: "1" }, { storage });
    const handler = fetchHandler(server);
    const send = (method: string, headers: Record<string, string>, body?: object) =>
      handler(
        new Request(ADDRESS, {
          method,
          headers: {
            "content-type": "application/json",
            accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
            ...headers,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      );
    const greeting = await send("POST", {}, INITIALIZE);
    const headers = {
      "mcp-session-id": greeting.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": "2025-11-25",
    };
    await greeting.text();
    await (await send("POST", headers, { jsonrpc: "2.0", method: "notifications/initialized" })).text();
    expect(server.sessions()).toHaveLength(1);
    const reached = gate();
    const goes = gate();
    let held = 0;
    storage.after = async (operation) => {
      // After the session itself, where its stream goes on.
      if (operation !== "get" || held++ !== 1) return;
      reached.open();
      await goes.opened;
    };
    const reading = send("GET", headers);
    await reached.opened;
    expect((await send("DELETE", headers)).status).toBe(204);
    goes.open();
    await (await reading).body?.cancel();
    expect(server.sessions()).toEqual([]);
    await handler.close();
    await server.close();
  });
});
