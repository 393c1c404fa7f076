import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

export default scenario({
  name: "a caller's trace reaches the handler and goes on into its questions",
  ids: ["OTEL-01", "OTEL-02"],
  server: () =>
    new Server({ name: "traced", version: "1" }).tool("ask", {}, async (_args, ctx) => {
      await ctx.elicit("ok?", z.object({ ok: z.boolean() }));
      return ctx.trace?.traceId ?? "no trace";
    }),
  async run({ connect }) {
    const metas: unknown[] = [];
    const client = await connect({
      onElicit(question) {
        metas.push(question._meta);
        return { action: "accept", content: { ok: true } };
      },
    });
    expect(await client.call("ask", {}, { meta: { traceparent } })).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
    expect(metas).toMatchObject([{ traceparent }]);
    expect(await client.call("ask", {}, { meta: { traceparent: "not a trace" } })).toBe("no trace");
  },
});
