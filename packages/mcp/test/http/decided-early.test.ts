import { fetchHandler, type Middleware, Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { EventReader } from "./legacy-client.js";
import { modern } from "./modern.js";
import { gate } from "./watched.js";

const info = { name: "s", version: "1" };
/** Goes on when the reply has begun. */
const slow =
  (begun: Promise<void>): Middleware =>
  async (_call, next) => {
    await begun;
    return next();
  };
const region = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } } as const;

const tools = () =>
  new Server(info)
    .tool("ask", { requires: ["elicitation.form"] }, () => "asked")
    .tool("near", { input: region }, () => "near");

async function post(make: (begun: Promise<void>) => Server<never>, name: string, headers: Record<string, string> = {}) {
  const { passed, open } = gate();
  const handler = fetchHandler(make(passed), { times: { streamAfterMs: 20 } });
  const call = modern("tools/call", { name, arguments: { region: "eu" } });
  const sent = { ...call.headers, ...headers, host: "127.0.0.1" };
  const response = await handler(
    new Request("http://127.0.0.1/mcp", { method: "POST", body: call.body, headers: sent }),
  );
  open();
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

describe("what HTTP refuses by its status", () => {
  const servers = {
    "a slow middleware": (begun: Promise<void>) => tools().use(slow(begun)),
    "a slow middleware of a mounted server": (begun: Promise<void>) =>
      new Server(info).mount("in", tools().use(slow(begun))),
    "a slow middleware around a mounted server": (begun: Promise<void>) =>
      new Server(info).mount("in", tools()).use(slow(begun)),
  };
  for (const [what, make] of Object.entries(servers)) {
    it(`is decided before ${what} makes the reply a stream (HTTP26-09)`, async () => {
      const prefix = what.includes("mounted") ? "in_" : "";
      const missing = await post(make as never, `${prefix}ask`);
      expect([missing.status, missing.type]).toEqual([400, "application/json"]);
      expect(JSON.parse(missing.text)).toMatchObject({ id: 1, error: { code: -32021 } });
      const differs = await post(make as never, `${prefix}near`, { "mcp-param-region": "us" });
      expect([differs.status, differs.type]).toEqual([400, "application/json"]);
      expect(JSON.parse(differs.text)).toMatchObject({ id: 1, error: { code: -32020 } });
      const fits = await post(make as never, `${prefix}near`, { "mcp-param-region": "eu" });
      expect([fits.status, fits.type]).toEqual([200, "text/event-stream"]);
      expect(fits.text).toContain("near");
    });
  }
});

describe("the stream of a subscription", () => {
  it("begins with its acknowledgement, and carries neither logs nor progress (HTTP26-13, SUB-03, LOG-05)", async () => {
    const server = new Server(info)
      .tool("t", { input: z.object({}) }, () => "")
      .use(async (call, next) => {
        call.ctx.log("info", "before");
        call.ctx.progress(1);
        const result = await next();
        call.ctx.log("info", "after");
        return result;
      });
    const call = modern("subscriptions/listen", { notifications: { toolsListChanged: true } });
    const body = JSON.parse(call.body) as { params: { _meta: object } };
    Object.assign(body.params._meta, { "io.modelcontextprotocol/logLevel": "debug", progressToken: 1 });
    const headers = { ...call.headers, host: "127.0.0.1" };
    const request = new Request("http://127.0.0.1/mcp", { method: "POST", body: JSON.stringify(body), headers });
    const reader = new EventReader(await fetchHandler(server)(request));
    expect(await reader.message()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    server.listChanged("tools");
    expect(await reader.message()).toMatchObject({ method: "notifications/tools/list_changed" });
    server.endSubscriptions();
    expect((await reader.rest()).filter(({ data }) => data.includes('"method"'))).toEqual([]);
  });
});
