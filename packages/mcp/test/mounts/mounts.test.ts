import { createServer, type IncomingMessage, type Server as NodeServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { nodeHandler } from "../../src/node/http/handler.js";
import { Server } from "../../src/server/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import { EventReader, LegacyClient } from "../http/legacy-client.js";
import { modern } from "../http/modern.js";
import { loadPeer, peersInstalled } from "./peer-packages.js";

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
/** Builds an application with the server under `/api/mcp`, and says how to stop it. */
type Mount = (server: Server<object>) => Promise<{ url: string; close: () => Promise<void> }>;

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

// `@hono/node-server` replaces these for its process, in which other test files run.
const replaced = { Request: globalThis.Request, Response: globalThis.Response };
afterAll(() => void Object.assign(globalThis, replaced));

const server = () =>
  new Server({ name: "t", version: "1" })
    .tool("hello", {}, () => "hello")
    .tool("steps", {}, async (_args, ctx) => {
      ctx.progress(1);
      return "done";
    });

async function listen(listener: Listener, end: () => void = () => {}) {
  const http: NodeServer = createServer(listener);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/api/mcp`,
    async close() {
      end();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

interface ExpressLike {
  (): Listener & { use(...handlers: unknown[]): void; all(path: string, handler: unknown): void };
  json(options?: object): unknown;
  raw(options?: object): unknown;
  text(options?: object): unknown;
}

function express(parser: "json" | "raw" | "text" | undefined, nested: boolean): Mount {
  return async (mounted) => {
    const { default: make } = await loadPeer<{ default: ExpressLike }>("express");
    const app = make();
    const handler = nodeHandler(mounted);
    if (parser !== undefined) app.use(make[parser]({ type: "application/json" }));
    if (nested) app.use("/api/mcp", handler);
    else app.all("/api/mcp", handler);
    return listen(app, handler.close);
  };
}

interface FastifyLike {
  all(path: string, handler: (request: { raw: IncomingMessage; body: unknown }, reply: FastifyReply) => void): void;
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): void;
  listen(options: object): Promise<string>;
  close(): Promise<void>;
}
interface FastifyReply {
  raw: ServerResponse;
  hijack(): void;
}

function fastify(parses: boolean): Mount {
  return async (mounted) => {
    const { default: make } = await loadPeer<{ default: (options: object) => FastifyLike }>("fastify");
    const app = make({ forceCloseConnections: true });
    const handler = nodeHandler(mounted);
    if (!parses) {
      app.removeAllContentTypeParsers();
      app.addContentTypeParser("*", (_request, _payload, done) => done(null));
    }
    app.all("/api/mcp", (request, reply) => {
      reply.hijack();
      handler(request.raw, reply.raw, parses ? (request.body ?? undefined) : undefined);
    });
    const address = await app.listen({ port: 0, host: "127.0.0.1" });
    return {
      url: `${address}/api/mcp`,
      async close() {
        handler.close();
        await app.close();
      },
    };
  };
}

interface KoaContext {
  path: string;
  req: IncomingMessage;
  res: ServerResponse;
  respond: boolean;
}
type Koa = new () => { use(middleware: (ctx: KoaContext) => void): void; callback(): Listener };

const koa: Mount = async (mounted) => {
  const { default: Make } = await loadPeer<{ default: Koa }>("koa");
  const app = new Make();
  const handler = nodeHandler(mounted);
  app.use((ctx) => {
    if (ctx.path !== "/api/mcp") return;
    ctx.respond = false;
    // Koa presets 404, which is not ours.
    ctx.res.statusCode = 200;
    handler(ctx.req, ctx.res);
  });
  return listen(app.callback(), handler.close);
};

interface HonoContext {
  req: { raw: Request; json(): Promise<unknown> };
}
interface HonoApp {
  all(path: string, handler: (context: HonoContext) => Promise<Response>): void;
  fetch(request: Request): Promise<Response>;
}
type HonoServe = { getRequestListener(fetch: (request: Request) => Promise<Response>): Listener };

function hono(parses: boolean): Mount {
  return async (mounted) => {
    const { Hono } = await loadPeer<{ Hono: new () => HonoApp }>("hono");
    const { getRequestListener } = await loadPeer<HonoServe>("@hono/node-server");
    const app = new Hono();
    const handler = fetchHandler(mounted);
    app.all("/api/mcp", async ({ req }) =>
      parses && req.raw.method === "POST" ? handler(req.raw, { parsedBody: await req.json() }) : handler(req.raw),
    );
    return listen(
      getRequestListener((request) => app.fetch(request)),
      handler.close,
    );
  };
}

interface H3App {
  all(path: string, handler: (event: { req: Request }) => Promise<Response>): void;
}
type H3Module = { H3: new () => H3App };
type H3Node = { toNodeHandler(app: H3App): Listener };

const h3: Mount = async (mounted) => {
  const { H3 } = await loadPeer<H3Module>("h3");
  const { toNodeHandler } = await loadPeer<H3Node>("h3/node");
  const app = new H3();
  const handler = fetchHandler(mounted);
  app.all("/api/mcp", (event) => handler(event.req));
  return listen(toNodeHandler(app), handler.close);
};

/** Route handlers as Next wants them: one exported function per method, called with `Request`. */
const next: Mount = async (mounted) => {
  const handler = fetchHandler(mounted);
  const { getRequestListener } = await loadPeer<HonoServe>("@hono/node-server");
  const route: Record<string, (request: Request) => Promise<Response>> = {
    GET: handler,
    POST: handler,
    DELETE: handler,
  };
  return listen(
    getRequestListener(
      (request) => route[request.method]?.(request) ?? Promise.resolve(new Response(null, { status: 405 })),
    ),
    handler.close,
  );
};

const MOUNTS: [string, Mount][] = [
  ["plain node:http", (mounted) => listen(nodeHandler(mounted))],
  ["Express without a body parser", express(undefined, false)],
  ["Express with the JSON parser", express("json", false)],
  ["Express with the raw parser", express("raw", false)],
  ["Express with the text parser", express("text", false)],
  ["Express under a mount path", express("json", true)],
  ["Fastify without a body parser", fastify(false)],
  ["Fastify with its body parser", fastify(true)],
  ["Koa", koa],
  ["Hono without a body parser", hono(false)],
  ["Hono with a body that was read", hono(true)],
  ["h3", h3],
  ["Next-style route handlers", next],
];

const mounts = peersInstalled ? MOUNTS : MOUNTS.slice(0, 1);
if (!peersInstalled) console.log("mounts: the frameworks are not installed (npm run peers); only node:http is tested");

describe.each(mounts)("mounted in %s, a server", (_name, mount) => {
  it("answers a stateless request, streams another, and keeps a session", async () => {
    const { url, close } = await mount(server());
    open.push(close);
    const { headers, body } = modern("tools/call", { name: "hello", arguments: {} });
    const answer = await fetch(url, { method: "POST", headers, body });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ result: { content: [{ text: "hello" }] } });

    const client = new LegacyClient(url);
    await client.open();
    const events = await new EventReader(await client.call("steps", {}, undefined, { progressToken: 1 })).rest();
    expect(events).toHaveLength(3);
    const standing = new EventReader(await client.get());
    expect((await standing.next())?.id).toBe("s.0");
    await standing.cancel();
    expect((await client.send("DELETE", {})).status).toBe(204);
  });

  it("refuses bad input with its own words, also where the framework reads bodies", async () => {
    const { url, close } = await mount(server());
    open.push(close);
    const { headers } = modern("tools/list");
    const evil = await fetch(url, {
      method: "POST",
      headers: { ...headers, origin: "http://evil.example" },
      body: "{}",
    });
    expect(evil.status).toBe(403);
    expect(await evil.json()).toMatchObject({ error: { code: -32600 } });
    const invalid = await fetch(url, { method: "POST", headers, body: '{"jsonrpc":"2.0"}' });
    expect(invalid.status).toBe(400);
    expect(await invalid.json()).toMatchObject({ error: { code: -32600 } });
  });
});

it("Several servers share one HTTP server by path", async () => {
  const [a, b] = ["a", "b"].map((name) => nodeHandler(new Server({ name, version: "1" }).tool(name, {}, () => name)));
  const { url, close } = await listen((request, response) => (request.url === "/a" ? a : b)?.(request, response));
  open.push(close);
  for (const name of ["a", "b"]) {
    const { headers, body } = modern("tools/call", { name, arguments: {} });
    const response = await fetch(new URL(`/${name}`, url), { method: "POST", headers, body });
    expect(await response.json()).toMatchObject({ result: { content: [{ text: name }] } });
  }
});

it("A body that somebody else has read is reported with what to do", async () => {
  const handler = nodeHandler(server());
  const { url, close } = await listen((request, response) => {
    request.resume();
    request.on("end", () => setImmediate(() => handler(request, response)));
  });
  open.push(close);
  const { headers, body } = modern("tools/list");
  const response = await fetch(url, { method: "POST", headers, body });
  expect(response.status).toBe(500);
  expect(await response.text()).toContain("mount the handler before the body parser");
});
