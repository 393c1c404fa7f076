import { Server } from "@parley/mcp";
import { Host } from "@parley/mcp/host";
import { fetchHandler } from "@parley/mcp/http";
import { expect, it } from "vitest";

const form = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] } as const;
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
};

it("a call that brings answers nobody asked for is run once behind a gateway, however many rounds it has", async () => {
  let runs = 0;
  const server = new Server({ name: "s", version: "1" }).tool("ask", {}, async (_args, ctx) => {
    runs++;
    return String((await ctx.elicit("Sure?", form)).ok);
  });
  const host = new Host({ servers: { a: server }, client: { revisions: ["2025-11-25"] } });
  const handler = fetchHandler(host.asServer());
  await host.start();
  const call = async (more: object): Promise<Record<string, unknown>> => {
    const params = { name: "a__ask", arguments: {}, ...more, _meta: META };
    const answer = await handler(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "a__ask",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      }),
    );
    return ((await answer.json()) as { result: Record<string, unknown> }).result;
  };
  const first = await call({ inputResponses: { stray: { action: "accept", content: {} } } });
  expect(first["resultType"]).toBe("input_required");
  const [key = ""] = Object.keys(first["inputRequests"] as object);
  const answers = { inputResponses: { [key]: { action: "accept", content: { ok: true } } } };
  const last = await call({ ...answers, requestState: first["requestState"] });
  expect(last).toMatchObject({ resultType: "complete", content: [{ text: "true" }] });
  expect(runs).toBe(1);
  await handler.close();
  await host.close();
});
