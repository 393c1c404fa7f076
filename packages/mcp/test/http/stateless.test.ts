import { afterEach, describe, expect, it } from "vitest";
import { serveHttp } from "../../src/node/http.js";
import { Server } from "../../src/server/server.js";
import { fetchHandler, type Servable } from "../../src/transport/http/fetch-handler.js";
import type { HttpServerOptions } from "../../src/transport/http/server-options.js";
import { eventsOf, modern } from "./modern.js";

type Call = (init: {
  headers: Record<string, string>;
  body?: string;
  method?: string;
  signal?: AbortSignal;
}) => Promise<Response>;

const open: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function overNode(server: Servable, options: HttpServerOptions): Promise<Call> {
  const handle = await serveHttp(server, { port: 0, ...options });
  open.push(() => handle.close());
  return (init) => fetch(handle.url, { method: "POST", ...init });
}

async function overFetch(server: Servable, options: HttpServerOptions): Promise<Call> {
  const handler = fetchHandler(server, options);
  open.push(() => handler.close());
  return (init) => handler(new Request("http://localhost:3000/mcp", { method: "POST", ...init }));
}

function everything(): Server<object> {
  return new Server({ name: "t", version: "1" })
    .tool("add", {}, () => "sum")
    .tool("later", {}, async () => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      return "late";
    })
    .tool("steps", {}, async (_args, ctx) => {
      ctx.progress(0.5);
      return "done";
    });
}

describe.each([
  ["the Node adapter", overNode],
  ["fetchHandler", overFetch],
])("a stateless request through %s", (_name, start) => {
  it("is answered with one JSON body", async () => {
    const call = await start(everything(), {});
    const response = await call(modern("tools/call", { name: "add", arguments: {} }));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toMatchObject({ id: 1, result: { content: [{ type: "text", text: "sum" }] } });
  });

  it("becomes a stream when something is said before the answer (HTTP26-10, HTTP26-12, HTTP26-15)", async () => {
    const call = await start(everything(), {});
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
    const call = await start(everything(), { times: { streamAfterMs: 10 } });
    const response = await call(modern("tools/call", { name: "later", arguments: {} }));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(eventsOf(await response.text())).toHaveLength(1);
  });

  it("gets the status of its error (HTTP26-08, HTTP26-22)", async () => {
    const call = await start(everything(), {});
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
