import { Server, type ServerOptions } from "@parley/mcp";
import { type FetchHandler, fetchHandler } from "@parley/mcp/http";
import { memoryStorage } from "@parley/mcp/storage";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";

type Message = { id?: string; method?: string; result?: Record<string, unknown>; params?: Record<string, unknown> };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function serving(shared: ServerOptions = {}): FetchHandler {
  const extensions = [tasks({ pollIntervalMs: 10 })];
  return fetchHandler(
    new Server({ name: "s", version: "1" }, { extensions, ...shared })
      .tool("form", { task: "required" }, async (_args, ctx) => {
        return `got ${(await ctx.elicit("n?", z.object({ n: z.number() }))).n}`;
      })
      .tool("model", { task: "required" }, async (_args, ctx) => {
        const content = { type: "text", text: "hi" } as const;
        return (await ctx.sample({ messages: [{ role: "user", content }], maxTokens: 9 })).model;
      })
      .tool("folders", { task: "required" }, async (_args, ctx) => String((await ctx.roots()).length)),
  );
}

/** A session over HTTP in the revision where tasks ask by requests. */
class AskedSession {
  readonly #handler: FetchHandler;
  #session: string | undefined;
  #id = 0;

  constructor(handler: FetchHandler) {
    this.#handler = handler;
  }

  async open(capabilities: object): Promise<this> {
    const clientInfo = { name: "c", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo };
    const response = await this.#post({ id: 0, method: "initialize", params });
    this.#session = response.headers.get("mcp-session-id") ?? undefined;
    await response.text();
    await (await this.#post({ method: "notifications/initialized" })).text();
    return this;
  }

  async begin(name: string): Promise<string> {
    const text = await (await this.#request("tools/call", { name, task: {} })).text();
    return /"taskId":"([^"]+)"/.exec(text)?.[1] ?? text;
  }

  async status(taskId: string): Promise<string | undefined> {
    const text = await (await this.#request("tasks/get", { taskId })).text();
    return /"status":"([^"]+)"/.exec(text)?.[1];
  }

  async reply(id: string | undefined, result: object): Promise<void> {
    await (await this.#post({ id, result })).text();
  }

  /** Asks for the outcome and gives what comes; the stream breaks when the reader is left. */
  async *result(taskId: string): AsyncGenerator<Message> {
    const reader = (await this.#request("tasks/result", { taskId })).body?.getReader();
    cleanups.push(() => reader?.cancel());
    const decoder = new TextDecoder();
    for (let text = ""; reader !== undefined; ) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (text + decoder.decode(value, { stream: true })).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data: {")) yield JSON.parse(line.slice(6)) as Message;
    }
  }

  #request(method: string, params: object): Promise<Response> {
    return this.#post({ id: ++this.#id, method, params });
  }

  #post(message: object): Promise<Response> {
    return this.#handler(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2025-11-25",
          ...(this.#session === undefined ? {} : { "mcp-session-id": this.#session }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      }),
    );
  }
}

async function next(stream: AsyncGenerator<Message>): Promise<Message> {
  const silence = new Promise<Message>((resolve) => setTimeout(resolve, 250, { method: "silence" }));
  return Promise.race([stream.next().then(({ value }) => value as Message), silence]);
}

const ACCEPT = { action: "accept", content: { n: 4 } };

describe("TASK25-12: questions of a task on the requests for its outcome", () => {
  it("are put to the latest request, when the client of an earlier one is gone", async () => {
    const handler = serving();
    const gone = await new AskedSession(handler).open({ elicitation: {} });
    const taskId = await gone.begin("form");
    await expect.poll(() => gone.status(taskId)).toBe("input_required");
    expect(await next(gone.result(taskId))).toMatchObject({ method: "elicitation/create" });
    const back = await new AskedSession(handler).open({ elicitation: {} });
    const stream = back.result(taskId);
    const asked = await next(stream);
    expect(asked).toMatchObject({ method: "elicitation/create" });
    await back.reply(asked.id, ACCEPT);
    expect(await next(stream)).toMatchObject({ result: { content: [{ text: "got 4" }] } });
  });

  it("are taken back from the earlier request, which still gets the outcome", async () => {
    const handler = serving();
    const one = await new AskedSession(handler).open({ elicitation: {} });
    const taskId = await one.begin("form");
    await expect.poll(() => one.status(taskId)).toBe("input_required");
    const first = one.result(taskId);
    const { id } = await next(first);
    const second = one.result(taskId);
    const asked = await next(second);
    expect(await next(first)).toMatchObject({ method: "notifications/cancelled", params: { requestId: id } });
    await one.reply(asked.id, ACCEPT);
    expect(await next(first)).toMatchObject({ result: { content: [{ text: "got 4" }] } });
  });

  it("have ids of their own in each process that the session comes to", async () => {
    const shared = { storage: memoryStorage(), secret: "0123456789abcdef0123456789abcdef" };
    const [here, there] = [serving(shared), serving(shared)];
    let turns = 0;
    const balanced = ((request: Request) => (turns++ % 2 === 0 ? here : there)(request)) as FetchHandler;
    const session = await new AskedSession(balanced).open({ elicitation: {} });
    const taskId = await session.begin("form");
    await expect.poll(() => session.status(taskId)).toBe("input_required");
    const first = await next(session.result(taskId));
    const second = await next(session.result(taskId));
    expect([first.method, second.method]).toEqual(["elicitation/create", "elicitation/create"]);
    expect(second.id).not.toBe(first.id);
  });

  it.each([
    ["form", { elicitation: {} }, { sampling: {}, roots: {} }],
    ["model", { sampling: {} }, { elicitation: {}, roots: {} }],
    ["folders", { roots: {} }, { elicitation: {}, sampling: {} }],
  ])("%s: are not put to a session that did not declare that it can be asked", async (tool, can, cannot) => {
    const handler = serving();
    const able = await new AskedSession(handler).open(can);
    const taskId = await able.begin(tool);
    await expect.poll(() => able.status(taskId)).toBe("input_required");
    const unable = await new AskedSession(handler).open(cannot);
    expect(await next(unable.result(taskId))).toEqual({ method: "silence" });
    // Nor to one that only looks.
    for (let look = 0; look < 3; look++) expect(await unable.status(taskId)).toBe("input_required");
    expect((await next(able.result(taskId))).id).toMatch(/^t/);
  });
});
