import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { serveHttp } from "../../src/node/http/serve-http.js";
import { Server } from "../../src/server/server.js";
import type { HttpServerOptions } from "../../src/transport/http/server/options.js";
import { fakeTime } from "./fake-time.js";
import { modern } from "./modern.js";
import { ADAPTERS, type Served } from "./serving.js";

const server = () => new Server({ name: "t", version: "1" }).tool("hello", {}, () => "hello");

/** Fails soon, because what these tests are about may leave a request without a reply. */
const post = (served: Served) =>
  Promise.race([
    served.fetch(new Request(served.url, { method: "POST", ...modern("tools/list") })),
    new Promise<never>((_, reject) => setTimeout(() => reject(new Error("no reply")), 30_000).unref()),
  ]);
const refused = (headers: Record<string, unknown>) =>
  // A program without types may return anything.
  (() => ({ status: 401, headers })) as unknown as NonNullable<HttpServerOptions["authenticate"]>;

/** An endpoint whose every caller lacks a scope; its answer comes a turn later, as behind asynchronous middleware. */
const scoped = () => {
  const answer = { text: '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}', scopes: ["a:b"] };
  return { ...server().endpoint(), request: () => Promise.resolve(answer) };
};

describe.each(ADAPTERS)("a hook behind %s", (_name, start) => {
  it("that takes the members out of the request can call them", async () => {
    const seen: unknown[] = [];
    const served = await start(server(), {
      authenticate: ({ method, path, header, headerCount, headers }) => {
        seen.push(method, path, header("x-key"), headerCount?.("x-key"), headers()["x-key"]);
        return { status: 403 };
      },
    });
    const request = new Request(served.url, { method: "POST", headers: { "x-key": "k" }, body: "{}" });
    expect((await served.fetch(request)).status).toBe(403);
    expect(seen).toEqual(["POST", new URL(served.url).pathname, "k", 1, "k"]);
  });

  it.each<[string, Record<string, unknown>]>([
    ["with a line feed", { "www-authenticate": "Bearer\nx: y" }],
    ["with a letter that no header has", { "www-authenticate": 'Bearer error_description="утрачен"' }],
    ["without a value", { "www-authenticate": undefined }],
    ["with a space in its name", { "www authenticate": "Bearer" }],
    ["that delimits the reply", { "content-length": "1" }],
  ])("that refuses by a header %s is reported, and the sender gets 500", async (_what, headers) => {
    const { platform, warnings } = fakeTime();
    const served = await start(server(), { authenticate: refused(headers), platform });
    const replies = await Promise.all([post(served), post(served)]);
    expect(replies.map(({ status }) => status)).toEqual([500, 500]);
    expect(warnings[0]).toContain("`authenticate` failed");
  });

  it.each([[{ subject: "ada" }], [{}], [{ key: undefined }], [{ key: null }], [{ key: "" }], [{ key: 7 }]])(
    "that names nobody, as %j, identifies nobody",
    async (returned) => {
      const { platform, warnings } = fakeTime();
      const authenticate = (() => returned) as unknown as NonNullable<HttpServerOptions["authenticate"]>;
      const served = await start(server(), { authenticate, platform });
      expect((await post(served)).status).toBe(500);
      expect(warnings[0]).toContain("`authenticate` failed");
    },
  );

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("boom");
      },
    ],
    ["rejects", () => Promise.reject(new Error("boom"))],
    ["has a line feed", () => ({ "www-authenticate": "Bearer\nx: y" })],
    ["returns nothing", () => undefined],
  ])("is replaced by the default when `challenge` %s", async (_what, hook) => {
    const { platform, warnings } = fakeTime();
    const challenge = hook as NonNullable<HttpServerOptions["challenge"]>;
    const served = await start(scoped(), { challenge, platform });
    const reply = await post(served);
    expect(reply.status).toBe(403);
    expect(reply.headers.get("www-authenticate")).toBe('Bearer error="insufficient_scope", scope="a:b"');
    expect(warnings.join()).toContain("`challenge`");
  });

  it("called `onRequest` may throw or reject: the reply arrives and the failure is reported", async () => {
    for (const onRequest of [
      () => {
        throw new Error("log database is down");
      },
      () => Promise.reject(new Error("log database is down")) as unknown as undefined,
    ]) {
      const { platform, warnings } = fakeTime();
      const served = await start(server(), { onRequest, platform });
      expect((await post(served)).status).toBe(200);
      await new Promise((resolve) => setImmediate(resolve));
      expect(warnings).toEqual(["`onRequest` failed: log database is down"]);
    }
  });

  it("an answer that the runtime cannot write becomes 500, and the others of its turn arrive", async () => {
    const { platform } = fakeTime();
    let count = 0;
    const inner = server().endpoint();
    const endpoint: typeof inner = {
      ...inner,
      request: (accepted, exchange) => (count++ === 0 ? { text: "{}", status: 99 } : inner.request(accepted, exchange)),
    };
    const served = await start(endpoint, { platform });
    const replies = await Promise.all([post(served), post(served), post(served)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 500]);
  });
});

it("A request with two Content-Types is refused, whichever comes first", async () => {
  const handle = await serveHttp(server(), { port: 0 });
  const { headers, body } = modern("tools/list");
  const { "content-type": json = "", ...rest } = headers;
  for (const types of [
    [json, "text/plain"],
    ["text/plain", json],
    [json, json],
  ]) {
    const lines = [
      ...Object.entries({ host: "localhost", ...rest, "content-length": body.length }).map(([k, v]) => `${k}: ${v}`),
      ...types.map((type) => `Content-Type: ${type}`),
    ];
    expect(await statusOf(handle.port, `POST /mcp HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`)).toBe("415");
  }
  await handle.close();
});

function statusOf(port: number, bytes: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.once("data", (chunk) => {
      resolve(/^HTTP\/1.1 (\d+)/.exec(chunk.toString())?.[1]);
      socket.destroy();
    });
    socket.once("error", reject);
  });
}
