import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { expect, it } from "vitest";

it("a server of the stateless era alone answers GET and DELETE with 405 (HTTP26-18)", async () => {
  const server = new Server({ name: "new", version: "1" }, { revisions: ["2026-07-28"] }).tool("t", {}, () => "ok");
  const handle = await serveHttp(server, { port: 0 });
  try {
    for (const method of ["GET", "DELETE"]) {
      const response = await fetch(handle.url, { method, headers: { accept: "text/event-stream" } });
      expect([method, response.status]).toEqual([method, 405]);
      await response.text();
    }
  } finally {
    await handle.close();
  }
});
