import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { talk } from "../server/talk.js";
import { LegacyClient } from "./legacy-client.js";

describe("a client that says much of itself", () => {
  it("is refused by name of the limit, so that few sessions cannot take the place of all", async () => {
    const handler = fetchHandler(new Server({ name: "t", version: "1" }));
    for (let count = 0; count < 100; count++) {
      const hostile = new LegacyClient("http://localhost/mcp", { fetch: handler });
      const opened = await hostile.open("2025-11-25", { experimental: { x: "x".repeat(3_900_000) } });
      expect(await opened.json()).toMatchObject({ error: { code: -32602, data: { limit: "clientLength" } } });
      expect(hostile.sessionId).toBeUndefined();
    }
    const modest = new LegacyClient("http://localhost/mcp", { fetch: handler });
    expect((await modest.open("2025-11-25", { experimental: { x: "x".repeat(10_000) } })).status).toBe(200);
    await handler.close();
  });

  it("may be allowed to", async () => {
    const server = new Server({ name: "t", version: "1" }, { limits: { clientLength: 100_000 } });
    const handler = fetchHandler(server);
    const client = new LegacyClient("http://localhost/mcp", { fetch: handler });
    expect((await client.open("2025-11-25", { experimental: { x: "x".repeat(50_000) } })).status).toBe(200);
    await handler.close();
  });
});

it("all subscribers together meet a limit, and what ends is given back", async () => {
  const server = new Server({ name: "t", version: "1" }, { limits: { totalSubscriptionLength: 100 } });
  server.resourceTemplate("t://{+x}", {}, () => "");
  const uri = `t://${"a".repeat(55)}`;
  const first = await talk(server, "2025-11-25");
  const second = await talk(server, "2025-11-25");
  await first.result("resources/subscribe", { uri });
  const { error } = await second.ask("resources/subscribe", { uri });
  expect(error).toMatchObject({ data: { limit: "totalSubscriptionLength", value: 100 } });
  await first.result("resources/unsubscribe", { uri });
  await second.result("resources/subscribe", { uri });
});
