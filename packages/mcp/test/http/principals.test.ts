import { describe, expect, it } from "vitest";
import { Server } from "../../src/server/server.js";
import type { HttpServerOptions } from "../../src/transport/http/server/options.js";
import { fakeTime } from "./fake-time.js";
import { EventReader, LegacyClient } from "./legacy-client.js";
import { modern } from "./modern.js";
import { ADAPTERS } from "./serving.js";
import { note, watch } from "./watched.js";

const byBearer: HttpServerOptions = {
  authenticate(request) {
    const token = /^Bearer (\w+)$/.exec(request.header("authorization") ?? "")?.[1];
    if (token === undefined) return { status: 401, headers: { "WWW-Authenticate": "Bearer" } };
    return { key: `issuer|${token}`, subject: token };
  },
};

const server = () =>
  new Server({ name: "t", version: "1" })
    .tool("hello", {}, () => "hello")
    .tool("steps", {}, async (_args, ctx) => {
      ctx.progress(1);
      return "done";
    });

/** Everything of a response that its receiver can see, but the date. */
async function bytesOf(response: Response): Promise<string> {
  const headers: string[] = [];
  response.headers.forEach((value, name) => {
    if (name !== "date") headers.push(`${name}: ${value}`);
  });
  return JSON.stringify([response.status, headers, await response.text()]);
}

describe.each(ADAPTERS)("principals through %s", (_name, start) => {
  it("are asked to identify themselves before anything else (AUTHS-05, AUTHS-11)", async () => {
    const watched = watch(server());
    const served = await start(watched.endpoint, byBearer);
    const client = new LegacyClient(served.url, { fetch: served.fetch });
    for (const method of ["POST", "GET", "DELETE"]) {
      const refused = await client.send(method, {}, method === "POST" ? "not even JSON" : undefined);
      expect(refused.status).toBe(401);
      expect(refused.headers.get("www-authenticate")).toBe("Bearer");
      expect(await refused.json()).toMatchObject({ error: { code: -32600 } });
    }
    expect(watched.exchanges).toEqual([]);
  });

  it("see of another's session what an unknown id shows, byte for byte (SEC-09)", async () => {
    const { endpoint, peers } = watch(server());
    const served = await start(endpoint, byBearer);
    const as = (name: string) =>
      new LegacyClient(served.url, { fetch: served.fetch, headers: { authorization: `Bearer ${name}` } });
    const owner = as("ada");
    await owner.open();
    const reader = new EventReader(await owner.get());
    const [peer] = peers;
    peer?.send(note(1));
    const { eventId = "" } = await reader.message();
    const thief = as("mallory");
    thief.sessionId = owner.sessionId;
    const guesser = as("mallory");
    guesser.sessionId = "A".repeat(32);
    const attempts: ((client: LegacyClient) => Promise<Response>)[] = [
      (client) => client.post({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "hello" } }),
      (client) => client.post({ jsonrpc: "2.0", method: "notifications/initialized" }),
      (client) => client.post({ jsonrpc: "2.0", id: 7, result: {} }),
      (client) => client.get(),
      (client) => client.get({ "last-event-id": eventId }),
      (client) => client.send("DELETE", {}),
    ];
    for (const attempt of attempts) {
      const foreign = await attempt(thief);
      expect(foreign.status).toBe(404);
      expect(await bytesOf(foreign)).toBe(await bytesOf(await attempt(guesser)));
    }
    peer?.send(note(2));
    expect(await reader.message()).toMatchObject({ params: { data: 2 } });
    expect((await owner.call("hello")).status).toBe(200);
    await reader.cancel();
  });

  it("reach handlers as the one who calls, also when ids collide (HTTP26-17)", async () => {
    const { endpoint, exchanges } = watch(server());
    const served = await start(endpoint, byBearer);
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    await Promise.all(
      names.map(async (name) => {
        const { headers, body } = modern("tools/call", { name: "steps" }, 1);
        const request = { method: "POST", headers: { ...headers, authorization: `Bearer ${name}` }, body };
        expect((await served.fetch(new Request(served.url, request))).status).toBe(200);
      }),
    );
    expect(exchanges.map((exchange) => exchange.principal?.subject).sort()).toEqual([...names].sort());
  });

  it("are refused with 500 when `authenticate` fails, and the reason stays inside", async () => {
    for (const authenticate of [
      () => {
        throw new Error("secret database name");
      },
      () => Promise.reject(new Error("secret database name")),
    ]) {
      const served = await start(server(), { authenticate, platform: quiet() });
      const refused = await served.fetch(new Request(served.url, { method: "POST", ...modern("tools/list") }));
      expect(refused.status).toBe(500);
      expect(await refused.text()).not.toContain("secret");
    }
  });

  it("learn which scopes they lack (AUTHS-06)", async () => {
    const inner = server().endpoint();
    const endpoint = {
      ...inner,
      request: () => ({
        text: '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}',
        scopes: ["a:b", 'x"y'],
      }),
    };
    const served = await start(endpoint, {});
    const refused = await served.fetch(new Request(served.url, { method: "POST", ...modern("tools/list") }));
    expect(refused.status).toBe(403);
    expect(refused.headers.get("www-authenticate")).toBe('Bearer error="insufficient_scope", scope="a:b"');
  });
});

function quiet() {
  return { ...fakeTime().platform };
}
