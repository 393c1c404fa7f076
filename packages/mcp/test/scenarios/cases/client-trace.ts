import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

export default scenario({
  name: "trace context reaches the handler, and a malformed one is left out",
  ids: ["OTEL-01", "OTEL-02"],
  server: () =>
    new Server({ name: "traced", version: "1" }).tool("trace", {}, (_args, ctx) => String(ctx.meta["traceparent"])),
  async run({ connect }) {
    const client = await connect({ trace: () => ({ traceparent, tracestate: "vendor=1" }) });
    expect(await client.call("trace")).toBe(traceparent);
    expect(await client.call("trace", {}, { trace: { traceparent: "broken" } })).toBe("undefined");
  },
});
