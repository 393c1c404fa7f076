import { connect, type McpError, type Revision, Server } from "@parley/mcp";
import { quotas } from "@parley/mcp/limits";
import { serveHttp } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";

describe.each(["2026-07-28", "2025-11-25"] as const)("a client that is refused over HTTP, %s", (revision: Revision) => {
  it("learns when to call again, sends nothing again by itself, and keeps its connection", async () => {
    let runs = 0;
    const limits = quotas({ perPrincipal: { rate: { calls: 3, perMs: 3_600_000 } }, refusal: "protocol" });
    const server = new Server({ name: "s", version: "1" }, { quotas: limits })
      .tool("count", { annotations: { idempotentHint: true } }, () => `${++runs}`)
      .prompt("hello", {}, () => "hello");
    const { url, close } = await serveHttp(server, { port: 0 });
    const statuses: number[] = [];
    const counting: typeof fetch = async (...args) => {
      const response = await fetch(...args);
      if (response.status >= 400 && response.status !== 405) statuses.push(response.status);
      return response;
    };
    const client = await connect(url, { revisions: [revision], fetch: counting });
    try {
      const errors: McpError[] = [];
      for (let calls = 0; calls < 5; calls++) {
        const outcome = await client.tryRequest("tools/call", { name: "count", arguments: {} });
        if (!outcome.ok) errors.push(outcome.error);
      }
      expect(runs).toBe(5 - errors.length);
      expect(errors.length).toBeGreaterThan(1);
      for (const { data } of errors) {
        expect(data).toMatchObject({ limit: "quotas.perPrincipal.rate", retryAfterMs: expect.any(Number) });
      }
      // One request for each call: a refusal is not a reason to send once more.
      expect(statuses).toEqual(errors.map(() => 429));
    } finally {
      await client.close();
      await close();
    }
  });
});
