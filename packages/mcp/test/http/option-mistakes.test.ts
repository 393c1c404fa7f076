import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fetchHandler, Server } from "@parley/mcp";
import { nodeHandler, serveHttp, serveSocket, serveWebSocket } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import type { HttpServerOptions } from "../../src/transport/http/server/options.js";
import type { Servable } from "../../src/transport/serve-handle.js";
import { fakeTime } from "./fake-time.js";
import { modern } from "./modern.js";
import { ADAPTERS } from "./serving.js";

const server = () => new Server({ name: "t", version: "1" }).tool("hello", {}, () => "hello");
const refusal = (part: string) =>
  expect.objectContaining({ kind: "invalid_definition", message: expect.stringContaining(part) });

describe("what cannot be served", () => {
  it.each([
    [undefined, "undefined was passed"],
    [{}, "a value of type object"],
    ["server", "a value of type string"],
    [null, "a value of type object"],
  ])("is refused at once: %j", async (given, message) => {
    // A program without types may pass anything.
    const servable = given as unknown as Servable;
    expect(() => fetchHandler(servable)).toThrow(refusal(message));
    expect(() => nodeHandler(servable)).toThrow(refusal(message));
    await expect(serveHttp(servable, { port: 0 })).rejects.toEqual(refusal(message));
  });

  it.each([[70_000], [-1], [1.5], [Number.NaN], ["http" as unknown as number]])("has no port %s", async (port) => {
    for (const serve of [serveHttp, serveWebSocket]) {
      await expect(serve(server(), { port })).rejects.toEqual(refusal(`\`port\` is ${port}`));
    }
    await expect(serveSocket(server(), { port })).rejects.toEqual(refusal(`\`port\` is ${port}`));
  });
});

describe("a mistake in `cors`", () => {
  it.each<[unknown, string]>([
    [true, "`cors`"],
    [{}, "`cors.origins` is not a list"],
    [{ origins: "https://app.example.com" }, "`cors.origins` is not a list"],
    [{ origins: ["app.example.com"] }, '"app.example.com" in `cors.origins`'],
    [{ origins: ["https://app.example.com/page"] }, "in `cors.origins`"],
    [{ origins: ["*"], credentials: true }, "`credentials` for every origin"],
    [{ origins: "*", headers: "x-own" }, "`cors.headers` is not a list"],
  ])("is refused where it is made: %j", (cors, message) => {
    const options = { cors } as HttpServerOptions;
    expect(() => fetchHandler(server(), options)).toThrow(refusal(message));
    expect(() => nodeHandler(server(), options)).toThrow(refusal(message));
  });

  it.each<[HttpServerOptions, string]>([
    [{ allowedHosts: "example.com" as unknown as string[] }, "`allowedHosts` is not a list"],
    [{ allowedOrigins: "https://example.com" as unknown as string[] }, "`allowedOrigins` is not a list"],
  ])("has neighbours: %j", (options, message) => {
    expect(() => fetchHandler(server(), options)).toThrow(refusal(message));
  });
});

describe.each(ADAPTERS)("a preflight through %s", (_name, start) => {
  const preflight = (url: string, origin: string) =>
    new Request(url, { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } });

  it.each([
    [["*"], "https://app.example.com", "*"],
    [["https://app.example.com/"], "https://app.example.com", "https://app.example.com"],
    [["http://localhost:5173"], "http://localhost:5173", "http://localhost:5173"],
  ])("honours origins that are written as %j", async (origins, origin, allowed) => {
    const served = await start(server(), { cors: { origins } });
    const reply = await served.fetch(preflight(served.url, origin));
    expect([reply.status, reply.headers.get("access-control-allow-origin")]).toEqual([204, allowed]);
    const { headers, body } = modern("tools/list");
    const answer = await served.fetch(
      new Request(served.url, { method: "POST", headers: { ...headers, origin }, body }),
    );
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, allowed]);
  });

  it.each<[HttpServerOptions]>([[{}], [{ cors: { origins: ["https://app.example.com"] } }]])(
    "of a page that nobody allowed is told the option: %j",
    async (options) => {
      const served = await start(server(), options);
      const reply = await served.fetch(preflight(served.url, "http://localhost:5173"));
      expect(reply.status).toBe(403);
      expect(await reply.text()).toMatch(/localhost:5173.*cors\.origins/);
    },
  );
});

describe("a handler whose code cannot be loaded", () => {
  const broken = () => {
    const endpoint = server().endpoint();
    return Object.defineProperty({ ...endpoint }, "storage", {
      get() {
        throw new Error("chunk-42.js is missing");
      },
    });
  };

  it("answers 500, says why to the operator, and can be closed", async () => {
    const { platform, warnings } = fakeTime();
    const handler = nodeHandler(broken(), { platform });
    const listener = createServer(handler).listen(0, "127.0.0.1");
    await new Promise((resolve) => listener.once("listening", resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`;
    const statuses = [await fetch(url), await fetch(url, { method: "POST", ...modern("tools/list") })];
    expect(statuses.map(({ status }) => status)).toEqual([500, 500]);
    await handler.drain();
    listener.closeAllConnections();
    listener.close();
    const byFetch = fetchHandler(broken(), { platform });
    expect((await byFetch(new Request("http://localhost/mcp"))).status).toBe(500);
    await byFetch.close();
    expect(warnings).toEqual(Array(2).fill(expect.stringContaining("chunk-42.js is missing")));
  });
});
