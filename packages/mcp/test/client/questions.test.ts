import { connect, McpError } from "@parley/mcp";
import { fakeClock } from "@parley/mcp/testing";
import { describe, expect, it } from "vitest";
import type { ClientOptions } from "../../src/client/contract/options.js";
import { until, virtualTime } from "../http-client/virtual-time.js";
import { greetsIn, type Heard, type Pipe, STATELESS, scriptedPipe } from "./scripted-pipe.js";

const form = (properties: object, required: string[] = []) => ({ type: "object", properties, required });
const ask = (requestedSchema: object, message = "?") => ({
  method: "elicitation/create",
  params: { message, requestedSchema },
});

/** Puts `rounds` to the client, one after the other, and gives what came back with each retry and the outcome. */
async function inRounds(rounds: object[], options: ClientOptions) {
  const retries: Heard[] = [];
  const server = scriptedPipe((message, pipe) => {
    if (greetsIn("stateless", message, pipe)) return;
    retries.push(message);
    const round = rounds[retries.length - 1];
    pipe.answer(message, round === undefined ? { content: [] } : { resultType: "input_required", ...round });
  });
  const client = await connect(server, options);
  const outcome = await client.callTool("work", { a: 1 }).then(
    (result) => ({ result }),
    (error: McpError) => ({ error }),
  );
  const { capabilities } = { capabilities: server.heard()[0]?.params?.["_meta"] as Record<string, unknown> };
  await client.close();
  return { retries, outcome, meta: capabilities };
}

/** Sends one request of the server to a stateful client and gives its answer. */
async function inSession(request: object, options: ClientOptions): Promise<Heard> {
  let pipe: Pipe | undefined;
  const server = scriptedPipe((message, own) => {
    pipe = own;
    greetsIn("stateful", message, own);
  });
  const client = await connect(server, options);
  pipe?.say({ jsonrpc: "2.0", id: "q1", ...request });
  await until(() => server.heard().some(({ id }) => id === "q1"));
  await client.close();
  return server.heard().find(({ id }) => id === "q1") as Heard;
}

describe("rounds of questions (stateless)", () => {
  const accept = { onElicit: () => ({ action: "accept" as const, content: { name: "Ada" } }) };

  it("MRTR-05, MRTR-06: several questions in one round are answered together, under a new id and with the same parameters", async () => {
    const seen: string[] = [];
    const { retries, outcome } = await inRounds(
      [
        {
          inputRequests: { a: ask(form({}), "first"), b: ask(form({}), "second"), c: { method: "roots/list" } },
          requestState: "s",
        },
      ],
      {
        onElicit: async ({ message }) => {
          seen.push(message);
          await until(() => seen.length === 2);
          return { action: message === "first" ? "accept" : "decline" };
        },
        roots: [{ uri: "file:///work" }],
      },
    );
    expect(outcome).toMatchObject({ result: { content: [] } });
    expect(retries[1]?.id).not.toBe(retries[0]?.id);
    expect(retries[1]?.params).toMatchObject({
      name: "work",
      arguments: { a: 1 },
      requestState: "s",
      inputResponses: {
        a: { action: "accept", content: {} },
        b: { action: "decline" },
        c: { roots: [{ uri: "file:///work" }] },
      },
    });
  });

  it("MRTR-07, MRTR-08: the state goes back byte for byte, only the latest one, and none where none was given", async () => {
    const odd = 'ü\u2028"\\\u0000 {"a":1} ' + "x".repeat(1000);
    const { retries } = await inRounds(
      [{ inputRequests: { a: ask(form({})) }, requestState: odd }, { inputRequests: { b: ask(form({})) } }],
      accept,
    );
    expect(retries[1]?.params?.["requestState"]).toBe(odd);
    expect(Object.keys(retries[1]?.params?.["inputResponses"] as object)).toEqual(["a"]);
    expect(retries[2]?.params).not.toHaveProperty("requestState");
    expect(Object.keys(retries[2]?.params?.["inputResponses"] as object)).toEqual(["b"]);
  });

  const invalid: Record<string, object> = {
    "a kind that was not declared": {
      inputRequests: { q: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } } },
    },
    "roots that were not declared": { inputRequests: { q: { method: "roots/list" } } },
    "an unknown method": { inputRequests: { q: { method: "tools/list" } } },
    "neither questions nor state": {},
    "questions that are no object": { inputRequests: [] },
    "a state that is no string": { requestState: 1 },
    "a question without a message": { inputRequests: { q: { method: "elicitation/create", params: {} } } },
  };
  for (const [name, round] of Object.entries(invalid)) {
    it(`MRTR-02, MRTR-11: ${name} makes the result invalid, and nothing is sent any more`, async () => {
      const { retries, outcome } = await inRounds([round], accept);
      expect(outcome).toMatchObject({ error: { kind: "invalid_response", fix: expect.any(String) } });
      expect(retries).toHaveLength(1);
    });
  }

  it("ELIC-02, SAMP-02: a mode or tools that were not declared make the result invalid too", async () => {
    const url = { method: "elicitation/create", params: { mode: "url", message: "?", url: "https://example.com" } };
    const first = await inRounds([{ inputRequests: { q: url } }], { ...accept, elicitUrls: false });
    expect(first.outcome).toMatchObject({ error: { kind: "invalid_response" } });
    const sample = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1, tools: [] } };
    const second = await inRounds([{ inputRequests: { q: sample } }], {
      onSample: () => ({ role: "assistant", model: "m", content: { type: "text", text: "" } }),
      sampleTools: false,
    });
    expect(second.outcome).toMatchObject({ error: { kind: "invalid_response" } });
  });

  it("BASE-18: an unknown resultType is an invalid response", async () => {
    const { outcome } = await inRounds([{ resultType: "banana" }], accept);
    expect(outcome).toMatchObject({ error: { kind: "invalid_response", message: expect.stringContaining("banana") } });
  });

  it("MRTR-09: rounds are bounded, and the error names the option", async () => {
    const endless = Array.from({ length: 40 }, () => ({ inputRequests: { a: ask(form({})) } }));
    const { retries, outcome } = await inRounds(endless, { ...accept, maxRounds: 5 });
    expect(outcome).toMatchObject({ error: { kind: "limit_exceeded", fix: expect.stringContaining("maxRounds") } });
    expect(retries).toHaveLength(6);
  });

  it("questions are bounded over all rounds of a call, ten rounds by default (MRTR-09)", async () => {
    const asking = (from: number) =>
      Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`q${from + index}`, ask(form({}))]));
    const rounds = [0, 30, 60].map((from) => ({ inputRequests: asking(from) }));
    const refused = await inRounds(rounds, accept);
    expect(refused.outcome).toMatchObject({ error: { kind: "limit_exceeded", data: { limit: "maxQuestions" } } });
    const raised = await inRounds(rounds, { ...accept, maxQuestions: 90 });
    expect(raised.outcome).toMatchObject({ result: { content: [] } });
    const endless = Array.from({ length: 12 }, () => ({ inputRequests: { a: ask(form({})) } }));
    const many = await inRounds(endless, accept);
    expect(many.outcome).toMatchObject({ error: { kind: "limit_exceeded", data: { limit: "maxRounds", value: 10 } } });
  });

  it("MRTR-09: rounds that ask nothing are repeated ever more slowly", async () => {
    const time = virtualTime();
    const at: number[] = [];
    const server = scriptedPipe((message, pipe) => {
      if (greetsIn("stateless", message, pipe)) return;
      at.push(time.now());
      pipe.answer(message, at.length > 8 ? { content: [] } : { resultType: "input_required", requestState: "busy" });
    });
    const client = await connect(server, { platform: time.platform });
    let done = false;
    const call = client.callTool("work").then(() => {
      done = true;
    });
    for (let turn = 0; !done && turn < 200; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      time.next(5_000);
    }
    await call;
    expect(at.slice(1).map((moment, index) => moment - (at[index] as number))).toEqual([
      25, 50, 100, 200, 250, 250, 250, 250,
    ]);
    await client.close();
  });

  it("MRTR-10: when the application fails, the call fails with its reason and is not sent again", async () => {
    const { retries, outcome } = await inRounds([{ inputRequests: { a: ask(form({})) } }], {
      onElicit: () => {
        throw new Error("no window");
      },
    });
    expect(outcome).toMatchObject({ error: { kind: "misuse", message: "`onElicit` failed: no window" } });
    expect(retries).toHaveLength(1);
  });

  it("a call that is cancelled while a question is open aborts the question's signal", async () => {
    let aborted = false;
    const server = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateless", message, pipe))
        pipe.answer(message, { resultType: "input_required", inputRequests: { a: ask(form({})) } });
    });
    const controller = new AbortController();
    const client = await connect(server, {
      onElicit: (_question, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            resolve({ action: "cancel" });
          });
          controller.abort();
        }),
    });
    await expect(client.callTool("work", {}, { signal: controller.signal })).rejects.toMatchObject({
      kind: "cancelled",
    });
    expect(aborted).toBe(true);
    await client.close();
  });

  it("VER-08: each request declares what can be asked, without listChanged for roots", async () => {
    const { meta } = await inRounds([], { ...accept, roots: [], onSample: async () => ({}) as never });
    expect(meta["io.modelcontextprotocol/clientCapabilities"]).toEqual({
      elicitation: { form: {}, url: {} },
      sampling: { tools: {} },
      roots: {},
    });
  });

  it("BASE-14: a request of the server is not answered at all, and reported as a fault", async () => {
    const server = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateless", message, pipe)) pipe.answer(message, { tools: [] });
    });
    const client = await connect(server, { ...accept, roots: [] });
    const faults: string[] = [];
    client.on("fault", ({ message }) => faults.push(message));
    for (const method of ["ping", "roots/list", "elicitation/create", "sampling/createMessage", "no/such"]) {
      server.pipes[0]?.say({ jsonrpc: "2.0", id: method, method, params: { message: "?" } });
    }
    await client.listTools();
    expect(server.heard().filter(({ method }) => method === undefined)).toEqual([]);
    expect(faults).toHaveLength(5);
    await client.close();
  });
});

describe("requests of the server (stateful)", () => {
  const roots = { roots: [{ uri: "file:///work", name: "work" }] };

  it("PING-01, ROOT-02: ping and roots are answered", async () => {
    expect(await inSession({ method: "ping" }, {})).toMatchObject({ result: {} });
    expect(await inSession({ method: "roots/list" }, roots)).toMatchObject({ result: roots });
  });

  it("ROOT-04, ELIC-02: what cannot be answered is declined with a reason", async () => {
    expect(await inSession({ method: "no/such" }, {})).toMatchObject({ error: { code: -32601 } });
    expect(await inSession({ method: "roots/list" }, {})).toMatchObject({ error: { code: -32601 } });
    expect(await inSession({ method: "sampling/createMessage" }, {})).toMatchObject({
      error: { code: -32601, message: 'this client does not support "sampling"' },
    });
    expect(await inSession(ask(form({})), {})).toMatchObject({
      error: { code: -32602, message: 'this client does not support "elicitation"' },
    });
    const url = { method: "elicitation/create", params: { mode: "url", message: "?", url: "https://example.com" } };
    expect(await inSession(url, { onElicit: () => ({ action: "accept" }), elicitUrls: false })).toMatchObject({
      error: { code: -32602 },
    });
  });

  it("SAMP-12: a refusal of the user is -1", async () => {
    const question = { method: "sampling/createMessage", params: { messages: [], maxTokens: 10 } };
    const refused = await inSession(question, {
      onSample: () => {
        throw new McpError("declined", "the user said no");
      },
    });
    expect(refused).toMatchObject({ error: { code: -1, message: "the user said no" } });
  });

  it("SAMP-07: a peer of an older revision gets one block for a list of blocks", async () => {
    const question = { method: "sampling/createMessage", params: { messages: [], maxTokens: 10 } };
    const answer = await inSession(question, {
      revisions: ["2025-06-18"],
      onSample: () => ({
        role: "assistant",
        model: "m",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      }),
    });
    expect(answer).toMatchObject({ result: { content: { type: "text", text: "a\nb" } } });
  });

  it("the server takes a question back by notifications/cancelled", async () => {
    let taken = false;
    const server = scriptedPipe((message, pipe) => {
      if (greetsIn("stateful", message, pipe) && message.method === "notifications/initialized") {
        pipe.say({ jsonrpc: "2.0", id: "q", ...ask(form({})) });
      }
    });
    const client = await connect(server, {
      onElicit: (_question, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            taken = true;
            resolve({ action: "cancel" });
          });
          server.pipes[0]?.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "q" } });
        }),
    });
    await until(() => taken);
    await client.close();
  });

  it("ROOT-03: a change of roots is told, and answered with the new ones", async () => {
    const server = scriptedPipe((message, pipe) => {
      if (message.method === "notifications/roots/list_changed")
        pipe.say({ jsonrpc: "2.0", id: "r", method: "roots/list" });
      else greetsIn("stateful", message, pipe);
    });
    const client = await connect(server, roots);
    await client.setRoots([{ uri: "file:///other" }]);
    await until(() => server.heard().some(({ id }) => id === "r"));
    expect(server.heard().find(({ id }) => id === "r")).toMatchObject({
      result: { roots: [{ uri: "file:///other" }] },
    });
    await expect(client.setRoots([{ uri: "https://example.com" }])).rejects.toMatchObject({
      kind: "invalid_definition",
    });
    await client.close();
  });

  it("setRoots needs roots from the start, as the server was told that there are none", async () => {
    const server = scriptedPipe((message, pipe) => void greetsIn("stateful", message, pipe));
    const client = await connect(server);
    await expect(client.setRoots([])).rejects.toMatchObject({ kind: "capability_missing", fix: expect.any(String) });
    await client.close();
  });
});

describe("answers to forms", () => {
  const fields = form(
    {
      name: { type: "string", minLength: 2, default: "Ada" },
      age: { type: "integer", minimum: 0 },
      mail: { type: "string", format: "email" },
      color: { type: "string", enum: ["red", "blue"], default: "blue" },
    },
    ["name"],
  );
  const answered = (content: Record<string, never> | object) =>
    inSession(ask(fields), { onElicit: () => ({ action: "accept", content: content as never }) });

  it("ELIC-07: an untouched form gives its defaults", async () => {
    expect(await answered({})).toMatchObject({ result: { action: "accept", content: { name: "Ada", color: "blue" } } });
  });

  for (const content of [
    { name: "A" },
    { age: -1 },
    { age: 1.5 },
    { mail: "nobody" },
    { color: "green" },
    { name: { a: 1 } },
  ]) {
    it(`ELIC-09: ${JSON.stringify(content)} does not fit and is not sent`, async () => {
      expect(await answered(content)).toMatchObject({
        error: { code: -32602, message: expect.stringContaining("form") },
      });
    });
  }

  it("ELIC-08, ELIC-12: declined forms and pages have no content", async () => {
    const declined = await inSession(ask(fields), { onElicit: () => ({ action: "decline", content: { name: "x" } }) });
    expect(declined.result).toEqual({ action: "decline" });
    const url = {
      method: "elicitation/create",
      params: { mode: "url", message: "?", url: "https://example.com", elicitationId: "1" },
    };
    const opened = await inSession(url, { onElicit: () => ({ action: "accept", content: { a: "b" } }) });
    expect(opened.result).toEqual({ action: "accept" });
  });
});

describe("a call whose user has answered", () => {
  it("counts silence from the answer on, also while the connection is opened again", async () => {
    const clock = fakeClock();
    const server = scriptedPipe((message, pipe, connection) => {
      if (greetsIn("stateless", message, pipe) || message.method !== "tools/call") return;
      if (message.params?.["name"] === "silent") return;
      if (connection > 1) pipe.answer(message, { resultType: "complete", content: [] });
      else pipe.answer(message, { resultType: "input_required", inputRequests: { a: ask(form({})) } });
    });
    let answered = () => {};
    const client = await connect(server, {
      revisions: [STATELESS],
      platform: clock.platform,
      timeouts: { idleMs: 1000 },
      resend: "always",
      onElicit: () =>
        new Promise((resolve) => {
          answered = () => resolve({ action: "accept" });
        }),
    });
    const asked = client.callTool("asks");
    asked.catch(() => {});
    await clock.advance(5000);
    const other = client.callTool("silent");
    other.catch(() => {});
    await clock.advance(900);
    server.pipes[0]?.end();
    answered();
    // The deadline of the other call passes, and looks at all calls.
    await clock.advance(200);
    await clock.advance(900);
    expect(await asked).toMatchObject({ content: [] });
    await client.close();
  });
});
