import { describe, expect, it } from "vitest";
import { nodeHandler } from "../../src/node/http/handler.js";
import { serveHttp } from "../../src/node/http/serve-http.js";
import { McpError } from "../../src/protocol/error.js";
import { Server } from "../../src/server/server.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import type { HttpServerOptions } from "../../src/transport/http/server/options.js";
import type { RequestLogEntry } from "../../src/transport/http/server/request-log.js";
import { LegacyClient } from "./legacy-client.js";
import { modern } from "./modern.js";
import { ADAPTERS } from "./serving.js";
import { watch } from "./watched.js";

const server = () => new Server({ name: "t", version: "1" }).tool("hello", {}, () => "hello");

describe("a server that strangers could reach", () => {
  const open: HttpServerOptions[] = [
    { publicUrl: "https://example.com/mcp" },
    { allowedHosts: ["example.com"] },
    { allowedHosts: ["*"] },
  ];

  it.each(open)("does not start without somebody to ask who calls: %j", (options) => {
    for (const make of [fetchHandler, nodeHandler]) {
      expect(() => make(server(), options)).toThrow(/authenticate/);
      expect(() => make(server(), { ...options, allowUnauthenticated: true })).not.toThrow();
      expect(() => make(server(), { ...options, authenticate: () => ({ key: "k" }) })).not.toThrow();
    }
  });

  it.each(["0.0.0.0", "::", "192.0.2.1"])("does not listen on %s either, and says what to do", async (host) => {
    const failure = await serveHttp(server(), { host, port: 0 }).catch((error: unknown) => error);
    expect(McpError.is(failure) && failure.fix).toContain("allowUnauthenticated");
  });

  it("listens where it is told once that is decided", async () => {
    const handle = await serveHttp(server(), { host: "0.0.0.0", port: 0, authenticate: () => ({ key: "k" }) });
    const { headers, body } = modern("tools/list");
    const response = await fetch(`http://127.0.0.1:${handle.port}/mcp`, { method: "POST", headers, body });
    expect(response.status).toBe(200);
    await handle.close();
  });
});

describe.each(ADAPTERS)("through %s", (_name, start) => {
  it("a refusal names the header, its value and the option that would allow it", async () => {
    const served = await start(server());
    const { headers, body } = modern("tools/list");
    const evil = { ...headers, origin: "https://app.example" };
    const response = await served.fetch(new Request(served.url, { method: "POST", headers: evil, body }));
    expect(response.status).toBe(403);
    const { error } = (await response.json()) as { error: { message: string; data: object } };
    expect(error.message).toContain("Origin");
    expect(error.message).toContain("https://app.example");
    expect(error.message).toContain("allowedOrigins");
    expect(error.data).toMatchObject({ header: "Origin", value: "https://app.example" });
  });

  it("no page of another origin can run a tool, by any request that needs no preflight (CVE-2026-33252)", async () => {
    const { endpoint, exchanges } = watch(server());
    const served = await start(endpoint);
    const { headers, body } = modern("tools/call", { name: "hello" });
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "text/plain; a=application/json",
    ]) {
      const response = await served.fetch(
        new Request(served.url, { method: "POST", headers: { ...headers, "content-type": type }, body }),
      );
      expect(response.status).toBe(415);
    }
    const foreign = { ...headers, origin: "https://evil.example" };
    expect((await served.fetch(new Request(served.url, { method: "POST", headers: foreign, body }))).status).toBe(403);
    expect(exchanges).toEqual([]);
  });

  it("CORS is off by default, and complete when it is on", async () => {
    const origin = "https://app.example";
    const plain = await start(server());
    const { headers, body } = modern("tools/list");
    const off = await plain.fetch(
      new Request(plain.url, { method: "POST", headers: { ...headers, origin: "http://localhost" }, body }),
    );
    expect(off.status).toBe(200);
    expect(off.headers.get("access-control-allow-origin")).toBeNull();

    const served = await start(server(), { cors: { origins: [origin] } });
    const preflight = await served.fetch(
      new Request(served.url, {
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type,mcp-method,mcp-param-x",
        },
      }),
    );
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("content-type, mcp-method, mcp-param-x");
    expect(preflight.headers.get("access-control-allow-methods")).toContain("DELETE");
    const answer = await served.fetch(
      new Request(served.url, { method: "POST", headers: { ...headers, origin }, body }),
    );
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    expect(answer.headers.get("access-control-expose-headers")).toContain("Mcp-Session-Id");
    const refused = await served.fetch(
      new Request(served.url, { method: "POST", headers: { ...headers, origin }, body: "{" }),
    );
    expect(refused.headers.get("access-control-allow-origin")).toBe(origin);
    const foreign = await served.fetch(
      new Request(served.url, { method: "OPTIONS", headers: { origin: "https://b.example" } }),
    );
    expect(foreign.status).toBe(403);
  });

  it("a page's stream carries the CORS headers too", async () => {
    const origin = "https://app.example";
    const served = await start(server(), { cors: { origins: "*" } });
    const client = new LegacyClient(served.url, { fetch: served.fetch, headers: { origin } });
    await client.open();
    const stream = await client.get();
    expect(stream.headers.get("access-control-allow-origin")).toBe("*");
    await stream.body?.cancel();
  });

  it("every request is told to the log hook once, without credentials", async () => {
    const entries: RequestLogEntry[] = [];
    const served = await start(server(), {
      onRequest: (entry) => void entries.push(entry),
      authenticate: () => ({ key: "k", subject: "ada" }),
    });
    const { headers, body } = modern("tools/list");
    const secret = { ...headers, authorization: "Bearer canary" };
    await served.fetch(new Request(`${served.url}?token=canary`, { method: "POST", headers: secret, body }));
    await served.fetch(
      new Request(served.url, { method: "POST", headers: { ...secret, origin: "https://evil.example" }, body }),
    );
    expect(entries.map(({ status }) => status)).toEqual([200, 403]);
    expect(entries[0]).toMatchObject({ method: "POST", path: "/mcp", subject: "ada" });
    expect(JSON.stringify(entries.map((entry) => [entry, entry.headers()]))).not.toContain("canary");
  });

  it("settings that contradict each other are refused", async () => {
    await expect(start(server(), { cors: { origins: "*", credentials: true } })).rejects.toThrow(/credentials/);
  });
});
