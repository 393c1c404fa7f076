import { describe, expect, it } from "vitest";
import { talk } from "../../../test/server/talk.js";
import { LOG_LEVELS } from "../../protocol/logging.js";
import type { ServerOptions } from "../contract/options.js";
import { Server } from "../server.js";

const chatty = (options: ServerOptions = {}) =>
  new Server({ name: "s", version: "1" }, options).tool("talk", {}, (_args, ctx) => {
    for (const level of LOG_LEVELS) ctx.log(level, { level }, "tool");
    return "done";
  });

describe("log messages of a session", () => {
  it("are declared, and flow from the level that the client names (LOG-01, LOG-02, LOG-03)", async () => {
    const levels: string[] = [];
    const server = chatty({ onLogLevel: (level, ctx) => levels.push(`${level} ${ctx.method}`) });
    const client = await talk(server, "2025-11-25");
    expect(client.heard[0]?.result.capabilities.logging).toEqual({});
    for (const [index, level] of LOG_LEVELS.entries()) {
      expect(await client.result("logging/setLevel", { level })).toEqual({});
      client.heard.length = 0;
      await client.result("tools/call", { name: "talk" });
      const got = client.notices("notifications/message").map(({ params }) => params?.["level"]);
      expect(got).toEqual(LOG_LEVELS.slice(index));
    }
    expect(levels[0]).toBe("debug logging/setLevel");
    expect(levels).toHaveLength(8);
  });

  it("refuses an unknown level and keeps the one that was set (LOG-06)", async () => {
    const client = await talk(chatty(), "2025-11-25");
    await client.result("logging/setLevel", { level: "error" });
    for (const level of ["loud", "ERROR", "", 3, null, undefined, "constructor"]) {
      expect((await client.ask("logging/setLevel", { level })).error?.code).toBe(-32602);
    }
    client.heard.length = 0;
    await client.result("tools/call", { name: "talk" });
    expect(client.notices("notifications/message")).toHaveLength(4);
  });

  it("outside a call reach every session at its own level", async () => {
    const server = chatty();
    const [quiet, loud, modern] = [
      await talk(server, "2025-06-18"),
      await talk(server, "2025-11-25"),
      await talk(server, "2026-07-28"),
    ];
    await quiet.result("logging/setLevel", { level: "error" });
    await loud.result("tools/list");
    await modern.result("tools/list");
    server.log("warning", { free: true }, "disk");
    server.log("error", "full");
    await quiet.result("tools/list");
    await loud.result("tools/list");
    await modern.result("tools/list");
    const data = (who: typeof quiet) => who.notices("notifications/message").map(({ params }) => params);
    expect(data(loud)).toEqual([
      { level: "warning", logger: "disk", data: { free: true } },
      { level: "error", data: "full" },
    ]);
    expect(data(quiet)).toEqual([{ level: "error", data: "full" }]);
    expect(data(modern)).toEqual([]);
  });

  it("can be switched off for the whole server", async () => {
    const server = chatty({ logging: false });
    const client = await talk(server, "2025-11-25");
    expect(client.heard[0]?.result.capabilities).not.toHaveProperty("logging");
    expect((await client.ask("logging/setLevel", { level: "debug" })).error?.code).toBe(-32601);
    await client.result("tools/call", { name: "talk" });
    server.log("error", "x");
    await client.result("tools/list");
    expect(client.notices("notifications/message")).toEqual([]);
  });
});

describe("log messages of a stateless request", () => {
  it("are sent only if it names a level, from that level on, before the answer (LOG-04, LOG-05)", async () => {
    const client = await talk(chatty(), "2026-07-28");
    await client.result("tools/call", { name: "talk" });
    expect(client.notices("notifications/message")).toEqual([]);
    await client.result("tools/call", { name: "talk", _meta: { "io.modelcontextprotocol/logLevel": "alert" } });
    expect(client.heard.slice(1).map(({ method, params }) => params?.["level"] ?? method)).toEqual([
      "alert",
      "emergency",
      undefined,
    ]);
  });

  it("are refused with an unknown level, and have no setLevel (LOG-06)", async () => {
    const client = await talk(chatty(), "2026-07-28");
    const params = { name: "talk", _meta: { "io.modelcontextprotocol/logLevel": "loud" } };
    expect((await client.ask("tools/call", params)).error?.code).toBe(-32602);
    expect((await client.ask("logging/setLevel", { level: "debug" })).error?.code).toBe(-32601);
  });
});
