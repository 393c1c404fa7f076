import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

/** One more value than a message may have. */
const ROWS = Array.from({ length: 100_000 }, (_, n) => n);

export default scenario({
  name: "an answer with more values than a message may have ends its call at once, and no other",
  server: () =>
    new Server({ name: "large", version: "1" })
      .tool("rows", {}, () => ({ content: [], structuredContent: { rows: ROWS } }))
      .tool("small", {}, () => "small"),
  async run({ connect }) {
    const client = await connect({ timeouts: { idleMs: 60_000 } });
    const [rows, small] = await Promise.all([client.tryCall("rows"), client.tryCall("small")]);
    // A gateway hides from its clients what went wrong between it and the server.
    expect(["invalid_response", "internal_error"]).toContain(rows.ok ? "ok" : rows.error.kind);
    expect(small).toMatchObject({ ok: true, value: "small" });
  },
});
