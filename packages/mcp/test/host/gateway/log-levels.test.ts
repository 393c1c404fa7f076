import { connect, Server } from "@parley/mcp";
import { Host } from "@parley/mcp/host";
import type { LoggingLevel } from "@parley/mcp/protocol";
import { describe, expect, it } from "vitest";

describe("log messages behind a gateway", () => {
  it.each(["2025-11-25", "2026-07-28"] as const)(
    "are wanted from the server as callers want them in %s (LOG-03)",
    async (revision) => {
      const levels: LoggingLevel[] = [];
      const server = new Server({ name: "s", version: "1" }, { onLogLevel: (level) => void levels.push(level) }).tool(
        "work",
        {},
        (_args, ctx) => {
          ctx.log("debug", "a detail");
          ctx.log("error", "a fault");
          return "done";
        },
      );
      const host = new Host({ servers: { a: server }, client: { revisions: ["2025-11-25"] } });
      const front = host.asServer();
      await host.start();
      const heard = { quiet: [] as unknown[], loud: [] as unknown[] };
      const client = (name: keyof typeof heard, logLevel: LoggingLevel) =>
        connect(front, { revisions: [revision], logLevel, onLog: ({ data }) => void heard[name].push(data) });
      const quiet = await client("quiet", "error");
      const loud = await client("loud", "debug");
      await quiet.call("a__work");
      await loud.call("a__work");
      await quiet.call("a__work");
      expect(levels).toEqual(["error", "debug"]);
      expect(heard).toEqual({ quiet: ["a fault", "a fault"], loud: ["a detail", "a fault"] });
      for (const one of [quiet, loud, front, host]) await one.close();
    },
  );
});
