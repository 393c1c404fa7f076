import { describe, expect, it } from "vitest";
import { fakeTime } from "../../../test/http/fake-time.js";
import { LegacyClient } from "../../../test/http/legacy-client.js";
import { modern } from "../../../test/http/modern.js";
import { gate, waitUntil } from "../../../test/http/watched.js";
import { talk } from "../../../test/server/talk.js";
import { createMemoryStorage } from "../../storage/memory.js";
import { channelPair } from "../../transport/channel/channel-pair.js";
import { serveChannel } from "../../transport/channel/server.js";
import { fetchHandler } from "../../transport/http/fetch-handler.js";
import type { HttpServerOptions } from "../../transport/http/server/options.js";
import type { HandlerContext } from "../contract/context.js";
import type { SessionInfo } from "../contract/session-info.js";
import { Server } from "../server.js";
import type { ServerHandler } from "./server-handler.js";

const info = { name: "s", version: "1" };
const MINUTE = 60_000;

interface Options {
  readonly log: string[];
  readonly refuse?: boolean;
  readonly holds?: Promise<void>;
}

let made = 0;

class Session implements ServerHandler<Options> {
  readonly #options: Options;
  readonly #name = ++made;
  #calls = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  async init({ log, refuse }: Options, session?: SessionInfo) {
    await Promise.resolve();
    if (refuse === true) throw new Error("no more sessions");
    log.push(`begin ${session?.client?.name ?? session?.transport ?? "request"}`);
  }

  async terminate(reason: string) {
    await Promise.resolve();
    this.#options.log.push(`end ${reason} after ${this.#calls}`);
  }

  listTools() {
    return [];
  }

  async callTool(name: string, _args: Record<string, unknown>, ctx: HandlerContext) {
    this.#calls++;
    if (name === "bye") ctx.session?.end("had enough");
    if (name === "hold") await this.#options.holds;
    return `${this.#name} ${this.#calls}`;
  }
}

function serving(more: Partial<Options> = {}, options: HttpServerOptions = {}) {
  const log: string[] = [];
  made = 0;
  const server = Server.from(Session, info, { perSession: true, handlerOptions: { log, ...more } });
  const time = fakeTime();
  const handler = fetchHandler(server, { ...options, platform: time.platform });
  const connect = () => new LegacyClient("http://localhost/mcp", { fetch: handler });
  return { log, server, handler, time, connect };
}

const textOf = async (response: Response) =>
  ((await response.json()) as { result: { content: [{ text: string }] } }).result.content[0].text;

describe("an object for each session over HTTP", () => {
  it("begins with the handshake, keeps its state to itself and ends with DELETE (A36, B15)", async () => {
    const { log, connect } = serving();
    const [ada, bert] = [connect(), connect()];
    await ada.open();
    await bert.open();
    expect(log).toEqual(["begin bare", "begin bare"]);
    expect(await textOf(await ada.call("x"))).toBe("1 1");
    expect(await textOf(await ada.call("x"))).toBe("1 2");
    expect(await textOf(await bert.call("x"))).toBe("2 1");
    await ada.send("DELETE", {});
    await waitUntil(() => log.length === 3);
    expect(log[2]).toBe("end left after 2");
  });

  it("ends when the session expires, and when the handler is closed, once", async () => {
    const { log, connect, time, handler, server } = serving();
    await connect().open();
    time.advance(31 * MINUTE);
    await connect().open();
    await waitUntil(() => log.includes("end expired after 0"));
    await handler.close();
    await server.close();
    expect(log.filter((line) => line.startsWith("end"))).toEqual(["end expired after 0", "end closed after 0"]);
  });

  it("refuses the session when `init` fails (B08)", async () => {
    const { log, connect, server } = serving({ refuse: true });
    const client = connect();
    const opened = await client.open();
    expect(opened.headers.get("mcp-session-id")).toBeNull();
    expect(await opened.json()).toMatchObject({ error: { code: -32603 } });
    expect(server.sessions()).toEqual([]);
    await server.close();
    expect(log).toEqual([]);
  });

  it("serves one request where there are no sessions, in both eras", async () => {
    const { log, handler } = serving({}, { sessions: false });
    const client = new LegacyClient("http://localhost/mcp", { fetch: handler });
    await client.open();
    expect(await textOf(await client.call("x"))).toMatch(/^\d 1$/);
    expect(await textOf(await client.call("x"))).toMatch(/^\d 1$/);
    const { headers, body } = modern("tools/call", { name: "x" });
    for (let count = 0; count < 2; count++) {
      const answer = await handler(new Request("http://localhost/mcp", { method: "POST", headers, body }));
      expect(await textOf(answer)).toMatch(/^\d 1$/);
    }
    await waitUntil(() => log.filter((line) => line.startsWith("end answered")).length === 4);
  });

  it("ends if the session cannot be stored", async () => {
    const log: string[] = [];
    const memory = createMemoryStorage({ clock: { now: () => 0 } });
    const storage = {
      ...memory,
      kv: {
        get: () => undefined,
        set: () => Promise.reject(new Error("full")),
        delete: () => false,
        touch: () => false,
      },
    };
    const platform = { ...fakeTime().platform };
    const server = Server.from(Session, info, { perSession: true, handlerOptions: { log }, storage, platform });
    const handler = fetchHandler(server, { platform });
    expect((await new LegacyClient("http://localhost/mcp", { fetch: handler }).open()).status).toBe(503);
    await waitUntil(() => log.length === 2);
    expect(log).toEqual(["begin bare", "end closed after 0"]);
  });
});

describe("an object for each connection", () => {
  it.each(["2025-11-25", "2026-07-28"] as const)("of a channel begins and ends with it, in %s", async (revision) => {
    const { log, server } = serving();
    const first = await talk(server, revision);
    const second = await talk(server, revision);
    const call = async (client: typeof first) =>
      (await client.result("tools/call", { name: "x" })).content[0].text as string;
    expect([await call(first), await call(first), await call(second)]).toEqual(["1 1", "1 2", "2 1"]);
    first.close();
    await waitUntil(() => log.includes("end left after 2"));
    await server.close();
    expect(log.filter((line) => line.startsWith("end"))).toEqual(["end left after 2", "end closed after 1"]);
  });

  it("is waited for by `closed` of the handle", async () => {
    const { log, server } = serving();
    const [near, far] = channelPair();
    const served = serveChannel(server, near);
    far.open({ message() {}, fault() {}, closed() {} });
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "piped", version: "1" },
    };
    far.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
    await waitUntil(() => log.length === 1);
    await served.close();
    await served.closed;
    expect(log).toEqual(["begin piped", "end closed after 0"]);
  });
});

describe("a handler that ends its session (B19)", () => {
  it("is answered first over HTTP; then the session is unknown", async () => {
    const { log, connect, time } = serving();
    const client = connect();
    await client.open();
    const answer = await client.call("bye");
    expect(await textOf(answer)).toBe("1 1");
    time.advance(20);
    await waitUntil(() => log.includes("end had enough after 1"));
    expect((await client.call("x")).status).toBe(404);
  });

  it("is answered first over a channel; then the connection is closed", async () => {
    const { log, server } = serving();
    const client = await talk(server, "2025-11-25");
    expect((await client.result("tools/call", { name: "bye" })).content[0].text).toBe("1 1");
    await waitUntil(() => log.includes("end had enough after 1"));
    expect(server.sessions()).toEqual([]);
  });

  it("is answered by a promise that settles whenever it likes: that is a deferred reply", async () => {
    const held = gate();
    const { server } = serving({ holds: held.passed });
    const client = await talk(server, "2025-11-25");
    const answer = client.result("tools/call", { name: "hold" });
    await client.result("ping");
    held.open();
    expect((await answer).content[0].text).toBe("1 1");
  });
});

it("one object cannot be one for each session", () => {
  expect(() => Server.from({ callTool: () => "" }, info, { perSession: true })).toThrow(/needs a class/);
});

describe("server.sessions()", () => {
  it("lists who is connected, with transport, state and what the client said (A35)", async () => {
    const { server, connect } = serving();
    const client = connect();
    await client.open("2025-06-18", { roots: {} });
    const piped = await talk(server, "2025-11-25");
    const [http, channel] = server.sessions();
    expect(http).toMatchObject({
      transport: "http",
      protocolVersion: "2025-06-18",
      initialized: true,
      client: { name: "bare", version: "1" },
      capabilities: { roots: {} },
      auth: undefined,
    });
    expect(channel).toMatchObject({ transport: "channel", protocolVersion: "2025-11-25" });
    http?.end();
    expect((await client.call("x")).status).toBe(404);
    piped.close();
    await waitUntil(() => server.sessions().length === 0);
  });
});
