import { connect } from "@parley/mcp";
import { afterEach, describe, expect, it } from "vitest";
import type { ClientOptions, QuestionContext } from "../../src/client/contract/options.js";
import { event, json, result, type Script, scriptedServer, stream } from "../http-client/scripted-server.js";
import { until, virtualTime } from "../http-client/virtual-time.js";
import { greetsIn, type Heard, type Pipe, STATEFUL, STATELESS, scriptedPipe } from "./scripted-pipe.js";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const form = { type: "object", properties: {} };
const elicit = (id: unknown, params: object = { message: "?", requestedSchema: form }) => ({
  jsonrpc: "2.0",
  id,
  method: "elicitation/create",
  params,
});
const sample = (id: unknown) => ({
  jsonrpc: "2.0",
  id,
  method: "sampling/createMessage",
  params: { messages: [], maxTokens: 1 },
});
const roots = (id: unknown) => ({ jsonrpc: "2.0", id, method: "roots/list" });
const ping = (id: unknown) => ({ jsonrpc: "2.0", id, method: "ping" });
const never = () => new Promise<never>(() => {});

/** A client of a stateful server on a pipe, and the server's end of it. */
async function inSession(options: ClientOptions) {
  const server = scriptedPipe((message, pipe) => void greetsIn("stateful", message, pipe));
  const client = await connect(server, options);
  open.push(client);
  const pipe = server.pipes[0] as Pipe;
  const answerTo = async (id: unknown) => {
    await until(() => pipe.heard.some((message) => message.id === id && message.method === undefined));
    return pipe.heard.find((message) => message.id === id && message.method === undefined) as Heard;
  };
  return {
    client,
    pipe,
    answerTo,
    ask(request: object & { id: unknown }) {
      pipe.say(request);
      return answerTo(request.id);
    },
  };
}

/** What an application that would answer everything was asked, and by whom. */
function answering() {
  const asked: QuestionContext[] = [];
  const options: ClientOptions = {
    onElicit: (_question, context) => {
      asked.push(context);
      return { action: "accept", content: {} };
    },
    roots: () => {
      asked.push({ signal: new AbortController().signal, server: { name: "roots", version: "" } });
      return [{ uri: "file:///home/me/secret" }];
    },
  };
  return { asked, options };
}

describe("before the handshake is done", () => {
  it.each([[undefined], [[STATELESS] as const], [[STATEFUL] as const]])(
    "LIFE-05: a pipe gets an answer to `ping` alone (revisions %s)",
    async (revisions) => {
      const { asked, options } = answering();
      let greeted = false;
      const server = scriptedPipe((message, pipe) => {
        if (!greeted) for (const question of [ping("p"), roots("r"), elicit("e")]) pipe.say(question);
        greeted = true;
        greetsIn(revisions?.[0] === STATELESS ? "stateless" : "stateful", message, pipe);
      });
      const client = await connect(server, { ...options, ...(revisions === undefined ? {} : { revisions }) });
      open.push(client);
      await until(() => server.heard().some(({ id }) => id === "e"));
      const answers = Object.fromEntries(server.heard().map((message) => [message.id, message]));
      expect(answers["p"]).toMatchObject({ result: {} });
      expect(answers["r"]).toMatchObject({ error: { code: -32600 } });
      expect(answers["e"]).toMatchObject({ error: { code: -32600 } });
      expect(asked).toEqual([]);
    },
  );

  it("LIFE-05: neither does an event stream that answers the handshake", async () => {
    const { asked, options } = answering();
    const greeting = { protocolVersion: STATEFUL, capabilities: {}, serverInfo: { name: "s", version: "1" } };
    const script: Script = (request, response) => {
      if (request.method !== "POST") return void response.writeHead(405).end();
      const { method, id } = request.message ?? {};
      if (method === undefined || id === undefined) return void response.writeHead(202).end();
      stream(response);
      response.write(event(roots(`r ${method}`)) + event(elicit(`e ${method}`)));
      if (method === "initialize") response.end(event(result(request, greeting)));
      else response.end(event({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }));
    };
    const server = await scriptedServer(script);
    open.push(server);
    const client = await connect(server.url, options);
    open.push(client);
    await server.arrived(4, ({ message }) => message?.method === undefined && message?.id !== undefined);
    expect(asked).toEqual([]);
    expect(server.requests.filter(({ body }) => body.includes("secret"))).toEqual([]);
  });

  it("a question that follows `initialized` at once is answered, and says who asks", async () => {
    const { asked, options } = answering();
    const server = scriptedPipe((message, pipe) => {
      greetsIn("stateful", message, pipe);
      if (message.method === "notifications/initialized") pipe.say(elicit("q"));
    });
    open.push(await connect(server, options));
    await until(() => server.heard().some(({ id }) => id === "q"));
    expect(server.heard().find(({ id }) => id === "q")).toMatchObject({ result: { action: "accept" } });
    expect(asked).toMatchObject([{ server: { name: "scripted", version: "1" } }]);
  });

  it("a server that does not name itself is called by its address", async () => {
    const { asked, options } = answering();
    const server = scriptedPipe((message, pipe) => {
      if (greetsIn("stateless", message, pipe)) return;
      const round = {
        resultType: "input_required",
        inputRequests: { q: { method: "elicitation/create", params: elicit(1).params } },
      };
      pipe.answer(message, message.params?.["inputResponses"] === undefined ? round : { content: [] });
    });
    const client = await connect(server, options);
    open.push(client);
    await client.callTool("work");
    expect(asked).toMatchObject([{ server: { name: "a scripted server", version: "" } }]);
  });
});

describe("questions at the same time", () => {
  it("an id that is in use is refused over HTTP too, and at most 100 run", async () => {
    let running = 0;
    const greeting = { protocolVersion: STATEFUL, capabilities: {}, serverInfo: { name: "s", version: "1" } };
    const server = await scriptedServer((request, response) => {
      const { method, id } = request.message ?? {};
      if (method === "initialize") return json(response, result(request, greeting));
      if (request.method === "GET") {
        stream(response);
        const same = Array.from({ length: 300 }, () => event(sample("same"))).join("");
        return void response.write(same + Array.from({ length: 300 }, (_, i) => event(sample(i))).join(""));
      }
      if (method === "server/discover")
        return json(response, { jsonrpc: "2.0", id, error: { code: -32601, message: "no" } });
      response.writeHead(202).end();
    });
    open.push(server);
    const client = await connect(server.url, {
      onSample: () => {
        running++;
        return never();
      },
    });
    open.push(client);
    await server.arrived(500, ({ message }) => message !== undefined && "error" in message);
    expect(running).toBe(100);
    const refused = server.requests
      .map(({ message }) => message as Heard | undefined)
      .filter((sent) => sent?.id === "same");
    expect(refused).toHaveLength(299);
    expect(refused[0]).toMatchObject({ error: { code: -32600, message: expect.stringContaining("in flight") } });
  });

  it("a question that was taken back counts until its handler ends", async () => {
    let running = 0;
    const { pipe, ask } = await inSession({
      onSample: () => {
        running++;
        return never();
      },
    });
    for (let i = 0; i < 100; i++) {
      pipe.say(sample(i));
      pipe.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: i } });
    }
    expect(await ask(sample("more"))).toMatchObject({ error: { message: expect.stringContaining("100") } });
    expect(running).toBe(100);
  });
});

describe("a handler that never settles", () => {
  it("is answered with an error after `timeouts.answerMs`, and its signal is aborted", async () => {
    const time = virtualTime();
    let signal: AbortSignal | undefined;
    const { pipe, answerTo } = await inSession({
      platform: time.platform,
      timeouts: { answerMs: 5_000 },
      onElicit: (_question, context) => {
        signal = context.signal;
        return never();
      },
    });
    pipe.say(elicit("q"));
    await until(() => signal !== undefined);
    expect(time.next(4_999)).toBe(false);
    expect(time.next(5_000)).toBe(true);
    expect(await answerTo("q")).toMatchObject({ error: { code: -32603, message: expect.stringContaining("5000 ms") } });
    expect(signal?.aborted).toBe(true);
  });

  it("ends its call in the stateless way too, with the option's name", async () => {
    const time = virtualTime();
    const server = scriptedPipe((message, pipe) => {
      if (greetsIn("stateless", message, pipe)) return;
      pipe.answer(message, {
        resultType: "input_required",
        inputRequests: { q: { method: "elicitation/create", params: elicit(1).params } },
      });
    });
    let asked = false;
    const client = await connect(server, {
      platform: time.platform,
      timeouts: { answerMs: 5_000 },
      onElicit: () => {
        asked = true;
        return never();
      },
    });
    open.push(client);
    const call = client.callTool("work").catch((error: unknown) => error);
    await until(() => asked);
    time.next(5_000);
    expect(await call).toMatchObject({ kind: "timeout", fix: expect.stringContaining("timeouts.answerMs") });
  });

  it("keeps the idle deadline away from the calls in flight, and not from later ones", async () => {
    const time = virtualTime();
    let asked = false;
    const { client, pipe } = await inSession({
      platform: time.platform,
      onElicit: () => {
        asked = true;
        return never();
      },
    });
    const settled: string[] = [];
    const watch = (name: string) =>
      client.callTool(name).catch(({ kind }: { kind: string }) => void settled.push(`${name} ${kind}`));
    void watch("before");
    pipe.say(elicit("q"));
    await until(() => asked);
    void watch("after");
    time.next(60_000);
    await until(() => settled.length > 0);
    expect(settled).toEqual(["after timeout"]);
    pipe.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "q" } });
    await client.notify("notifications/roots/list_changed");
    await until(() => {
      time.next(60_000);
      return settled.length === 2;
    });
    expect(settled).toEqual(["after timeout", "before timeout"]);
  });
});

describe("ELIC-02: a malformed question reaches nobody", () => {
  const url = (address: string) => ({ mode: "url", message: "?", url: address, elicitationId: "1" });
  const malformed: Record<string, object> = {
    "an unknown mode": { mode: "voice", message: "?", requestedSchema: form },
    "a page without an address": { mode: "url", message: "?", elicitationId: "1" },
    "a form without a schema": { message: "?" },
    "a form whose schema is a text": { mode: "form", message: "?", requestedSchema: "{}" },
    javascript: url("javascript:alert(1)"),
    "a file": url("file:///etc/passwd"),
    "plain HTTP to elsewhere": url("http://example.com/"),
    "a user in the address": url("https://user:pw@example.com/"),
    "a control character": url("https://example.com/\u0000"),
    "a line break": url("https://exam\nple.com/"),
    "a word": url("example"),
  };
  for (const [name, params] of Object.entries(malformed)) {
    it(`${name} is -32602 in a session, and an invalid result without one`, async () => {
      const { asked, options } = answering();
      const { ask } = await inSession(options);
      expect(await ask(elicit("q", params))).toMatchObject({ error: { code: -32602 } });
      const server = scriptedPipe((message, pipe) => {
        const inputRequests = { q: { method: "elicitation/create", params } };
        if (!greetsIn("stateless", message, pipe))
          pipe.answer(message, { resultType: "input_required", inputRequests });
      });
      const client = await connect(server, options);
      open.push(client);
      await expect(client.callTool("work")).rejects.toMatchObject({ kind: "invalid_response" });
      expect(asked).toEqual([]);
    });
  }

  it.each(["https://example.com/a?b#c", "http://localhost:3000/", "http://127.0.0.1/", "http://[::1]:1/"])(
    "%s is a page that may be shown",
    async (address) => {
      const { asked, options } = answering();
      const { ask } = await inSession(options);
      expect(await ask(elicit("q", url(address)))).toMatchObject({ result: { action: "accept" } });
      expect(asked).toHaveLength(1);
    },
  );
});

describe("a handler of the application that fails", () => {
  const failures: [string, ClientOptions["onElicit"], string, number][] = [
    [
      "throws",
      () => {
        throw new Error("ui crashed");
      },
      "`onElicit` failed: ui crashed",
      -32603,
    ],
    ["returns nothing", (() => undefined) as never, "`onElicit` returned undefined", -32603],
    ["returns another action", (() => ({ action: "ok" })) as never, '`onElicit` returned the action "ok"', -32603],
    [
      "does not fill the form",
      () => ({ action: "accept", content: { a: {} as never } }),
      "does not fit the form",
      -32602,
    ],
  ];
  it.each(failures)(
    "that %s is reported to its developer, and the server is not told its innards",
    async (_how, onElicit, told, code) => {
      const warnings: string[] = [];
      const { ask } = await inSession({ onElicit, onWarning: (message) => void warnings.push(message) });
      const answer = await ask(elicit("q"));
      expect(answer).toMatchObject({ error: { code } });
      expect(answer.error?.message).not.toMatch(/crashed|destructure|undefined/);
      expect(warnings).toEqual([expect.stringContaining(told)]);
    },
  );

  it.each(failures)(
    "that %s fails its call with advice about the handler, not the server",
    async (_how, onElicit, told) => {
      const server = scriptedPipe((message, pipe) => {
        const inputRequests = { q: { method: "elicitation/create", params: elicit(1).params } };
        if (!greetsIn("stateless", message, pipe))
          pipe.answer(message, { resultType: "input_required", inputRequests });
      });
      const client = await connect(server, { onElicit });
      open.push(client);
      const error = await client.callTool("work").catch((reason: unknown) => reason);
      expect(error).toMatchObject({ message: expect.stringContaining(told), fix: expect.stringContaining("onElicit") });
    },
  );
});
