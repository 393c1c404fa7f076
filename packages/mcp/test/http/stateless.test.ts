import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import { eventsOf, modern } from "./modern.js";
import { ADAPTERS, type Served } from "./serving.js";
import { gate } from "./watched.js";

/** Posts to a server. */
function caller(served: Served) {
  return (init: { headers: Record<string, string>; body: string }) =>
    served.fetch(new Request(served.url, { method: "POST", ...init }));
}

let answerMayCome = gate();

function everything(): Server<object> {
  return new Server({ name: "t", version: "1" })
    .tool("add", {}, () => "sum")
    .tool("later", {}, async () => {
      await answerMayCome.passed;
      return "late";
    })
    .tool("steps", {}, async (_args, ctx) => {
      ctx.progress(0.5);
      return "done";
    });
}

describe.each(ADAPTERS)("a stateless request through %s", (_name, start) => {
  it("is answered with one JSON body", async () => {
    const call = caller(await start(everything(), {}));
    const response = await call(modern("tools/call", { name: "add", arguments: {} }));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toMatchObject({ id: 1, result: { content: [{ type: "text", text: "sum" }] } });
  });

  it("becomes a stream when something is said before the answer (HTTP26-10, HTTP26-12, HTTP26-15)", async () => {
    const call = caller(await start(everything(), {}));
    const request = modern("tools/call", { name: "steps", arguments: {} });
    const body = JSON.parse(request.body);
    body.params._meta = { ...body.params._meta, progressToken: "t" };
    const response = await call({ ...request, body: JSON.stringify(body) });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const events = eventsOf(await response.text());
    expect(events.map((event) => event.id)).toEqual([undefined, undefined]);
    expect(JSON.parse(events[0]?.data ?? "")).toMatchObject({ method: "notifications/progress" });
    expect(JSON.parse(events[1]?.data ?? "")).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } });
  });

  it("becomes a stream when the answer takes longer than `streamAfterMs`", async () => {
    answerMayCome = gate();
    const call = caller(await start(everything(), { times: { streamAfterMs: 10 } }));
    const response = await call(modern("tools/call", { name: "later", arguments: {} }));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    answerMayCome.open();
    expect(eventsOf(await response.text())).toHaveLength(1);
  });

  it("gets the status of its error (HTTP26-08, HTTP26-22)", async () => {
    const call = caller(await start(everything(), {}));
    const unknown = await call(modern("no/such"));
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ id: 1, error: { code: -32601 } });
    const request = modern("tools/list");
    const { "mcp-protocol-version": _, ...headers } = request.headers;
    const missing = await call({ headers, body: request.body });
    expect(missing.status).toBe(400);
    expect(await missing.json()).toMatchObject({ error: { code: -32020 } });
  });
});
