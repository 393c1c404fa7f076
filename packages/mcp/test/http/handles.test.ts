import { connect, fetchHandler, Server } from "@parley/mcp";
import { nodeHandler, serveHttp, serveSocket, serveWebSocket } from "@parley/mcp/node";
import { memoryStorage } from "@parley/mcp/storage";
import { channelPair } from "@parley/mcp/testing";
import { type ServeHandle, serveChannel } from "@parley/mcp/transport";
import { describe, expect, it } from "vitest";
import { readAuthentication } from "../../src/transport/authentication.js";

const make = () => new Server({ name: "t", version: "1" }).tool("hello", {}, () => "hello");

const SERVED: [string, () => Promise<ServeHandle>][] = [
  ["serveHttp", () => serveHttp(make(), { port: 0 })],
  ["serveWebSocket", () => serveWebSocket(make(), { port: 0 })],
  ["serveSocket", () => serveSocket(make(), { port: 0 })],
  ["serveChannel", async () => serveChannel(make(), channelPair()[1])],
  ["fetchHandler", async () => fetchHandler(make())],
  ["nodeHandler", async () => nodeHandler(make())],
];

describe.each(SERVED)("the handle of %s", (_name, serve) => {
  it("is closed by being disposed of, and says so", async () => {
    const handle = await serve();
    await handle[Symbol.asyncDispose]();
    await expect(handle.closed).resolves.toBeUndefined();
    // Once more, and after the end: nothing happens.
    await handle.close();
  });

  it("is closed by being drained", async () => {
    const handle = await serve();
    await handle.drain(50);
    await expect(handle.closed).resolves.toBeUndefined();
  });
});

it("A handle that leaves the scope of `await using` is closed", async () => {
  let left: ServeHandle;
  {
    await using handle = await serveHttp(make(), { port: 0 });
    const client = await connect(handle.url ?? "");
    expect(await client.call("hello")).toBe("hello");
    await client.close();
    left = handle;
  }
  await expect(left.closed).resolves.toBeUndefined();
  await expect(connect(left.url ?? "")).rejects.toMatchObject({ kind: "connect_failed" });
});

it("A handler of web requests ignores what runtimes pass beside the request", async () => {
  const handler = fetchHandler(make());
  const env = { KV: {}, params: Promise.resolve({}) };
  const fetch = (url: string, init?: RequestInit) => handler(new Request(url, init), env);
  const client = await connect("http://localhost/mcp", { fetch });
  expect(await client.call("hello")).toBe("hello");
  await client.close();
  await handler.close();
});

it("A storage given to HTTP is refused, with the place where it belongs", () => {
  const options = { storage: memoryStorage(), sessions: true };
  expect(() => fetchHandler(make(), options)).toThrow(
    expect.objectContaining({ kind: "invalid_definition", fix: expect.stringContaining("new Server") }),
  );
});

describe("what `authenticate` returns", () => {
  it.each([[undefined], [null], [false]])("means for %s that the sender is unknown", (returned) => {
    expect(readAuthentication(returned)).toMatchObject({ status: 401 });
  });

  it.each([
    ["a principal without a key", { subject: "ada" }],
    ["a status that refuses nobody", { status: 200 }],
    ["a header that cannot be sent", { status: 401, headers: { "www-authenticate": "Bearer\nx: y" } }],
    ["a header without a value", { status: 401, headers: { "www-authenticate": undefined } }],
    ["a word", "ada"],
    ["true", true],
  ])("is refused when it is %s, without its values", (_what, returned) => {
    expect(() => readAuthentication(returned)).toThrow(expect.objectContaining({ kind: "misuse" }));
    expect(() => readAuthentication(returned)).toThrow(/^((?!ada).)*$/);
  });

  it("may refuse with a challenge", () => {
    const refusal = { status: 401, headers: { "www-authenticate": "Bearer" } } as const;
    expect(readAuthentication(refusal)).toBe(refusal);
  });
});
