import { connect, McpError, Server } from "@parley/mcp";
import { afterEach, describe, expect, it } from "vitest";
import { ResponseCache } from "../../src/client/contract/cache.js";
import { greetsIn, memberOf, type PipeScript, STATEFUL, STATELESS, scriptedPipe } from "./scripted-pipe.js";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function connected(
  script: PipeScript,
  era: "stateful" | "stateless",
  options: Parameters<typeof connect>[1] = {},
) {
  const server = scriptedPipe((message, pipe, connection) => {
    if (!greetsIn(era, message, pipe)) script(message, pipe, connection);
  });
  const client = await connect(server, options);
  open.push(client);
  const count = (method: string) => server.methods().filter((one) => one === method).length;
  return { client, server, count };
}

function everything() {
  return new Server({ name: "everything", version: "2" }, { instructions: "Be kind." })
    .tool("hi", {}, () => "hi")
    .resource("file:///a", { name: "a" }, () => "contents of a")
    .resourceTemplate("file:///{name}.txt", { name: "files" }, ({ name }) => `file ${name}`)
    .prompt(
      "greet",
      {
        arguments: {
          name: { required: true, complete: (value: string) => ["Ada", "Alan"].filter((one) => one.startsWith(value)) },
        },
      },
      ({ name }) => `Hello ${name}`,
    );
}

for (const revision of [STATEFUL, STATELESS] as const) {
  describe(`every method against our own server, ${revision}`, () => {
    async function client() {
      const connection = await connect(everything(), { revisions: [revision] });
      open.push(connection);
      return connection;
    }

    it("says who the server is and what it offers", async () => {
      const one = await client();
      expect(one.serverInfo).toMatchObject({ name: "everything", version: "2" });
      expect(one.instructions).toBe("Be kind.");
      expect(one.serverCapabilities).toHaveProperty("prompts");
      expect(one.prior).toMatchObject({ revision, instructions: "Be kind." });
    });

    it("lists and reads resources and templates", async () => {
      const one = await client();
      expect((await one.allResources()).map(({ uri }) => uri)).toEqual(["file:///a"]);
      expect((await one.listResources()).resources).toHaveLength(1);
      expect((await one.allResourceTemplates()).map(({ uriTemplate }) => uriTemplate)).toEqual(["file:///{name}.txt"]);
      expect((await one.listResourceTemplates()).resourceTemplates).toHaveLength(1);
      expect((await one.readResource("file:///a")).contents).toMatchObject([{ text: "contents of a" }]);
      const many = await one.readMany(["file:///x.txt", "file:///a", "nothing:"]);
      expect(many.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
      expect(many[2]).toMatchObject({ reason: { remote: true } });
    });

    it("lists, completes and gets prompts", async () => {
      const one = await client();
      expect((await one.allPrompts()).map(({ name }) => name)).toEqual(["greet"]);
      expect((await one.listPrompts()).prompts).toHaveLength(1);
      const { messages } = await one.getPrompt("greet", { name: "Ada" });
      expect(messages).toMatchObject([{ role: "user", content: { text: "Hello Ada" } }]);
      await expect(one.request("prompts/get", { name: "nobody" })).rejects.toMatchObject({ kind: "invalid_params" });
      const { values } = await one.complete({ prompt: "greet" }, { name: "name", value: "A" });
      expect(values).toEqual(["Ada", "Alan"]);
    });

    it("pings in every era", async () => {
      await (await client()).ping();
    });
  });
}

describe("completion", () => {
  it("COMP-02, COMP-03: names templates by their URI and passes what is settled", async () => {
    const { client, server } = await connected(
      (message, pipe) => pipe.answer(message, { completion: { values: ["x"], total: 1 } }),
      "stateful",
    );
    expect(await client.complete({ resource: "file:///{a}/{b}" }, { name: "b", value: "" }, { a: "1" })).toEqual({
      values: ["x"],
      total: 1,
    });
    expect(server.heard().at(-1)?.params).toMatchObject({
      ref: { type: "ref/resource", uri: "file:///{a}/{b}" },
      argument: { name: "b", value: "" },
      context: { arguments: { a: "1" } },
    });
  });

  it("COMP-01: the oldest revision has it without a capability", async () => {
    const server = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateful", message, pipe, {})) pipe.answer(message, { completion: { values: [] } });
    });
    const client = await connect(server, { revisions: ["2024-11-05"] });
    open.push(client);
    expect(await client.complete({ prompt: "p" }, { name: "a", value: "" })).toEqual({ values: [] });
  });
});

describe("logging", () => {
  it("LOG-03: in a session the level is set by a request, at the start and later", async () => {
    const { client, server } = await connected((message, pipe) => pipe.answer(message, {}), "stateful", {
      logLevel: "warning",
    });
    await client.setLogLevel("debug");
    const levels = server
      .heard()
      .flatMap(({ method, params }) => (method === "logging/setLevel" ? [params?.["level"]] : []));
    expect(levels).toEqual(["warning", "debug"]);
  });

  it("LOG-04: without a session each request names the level", async () => {
    const { client, server } = await connected((message, pipe) => pipe.answer(message, { content: [] }), "stateless");
    const level = () =>
      memberOf(server.heard().at(-1) ?? { jsonrpc: "2.0" }, "_meta")["io.modelcontextprotocol/logLevel"];
    await client.callTool("x");
    expect(level()).toBeUndefined();
    await client.setLogLevel("error");
    await client.callTool("x");
    expect(level()).toBe("error");
    expect(server.methods()).not.toContain("logging/setLevel");
  });

  it("messages reach onLog and listeners; malformed ones are dropped with a warning", async () => {
    const logged: unknown[] = [];
    const warnings: string[] = [];
    const script: PipeScript = (message, pipe) => {
      for (const params of [
        { level: "info", data: "one" },
        { data: "no level" },
        { level: "error", logger: "db", data: { a: 1 } },
      ])
        pipe.say({ jsonrpc: "2.0", method: "notifications/message", params });
      pipe.answer(message, { content: [] });
    };
    const { client } = await connected(script, "stateful", {
      onLog: ({ level, data }) => logged.push([level, data]),
      onWarning: (message) => warnings.push(message),
    });
    await client.callTool("x");
    expect(logged).toEqual([
      ["info", "one"],
      ["error", { a: 1 }],
    ]);
    expect(warnings).toHaveLength(1);
  });
});

describe("the cache", () => {
  const cacheable: PipeScript = (message, pipe) => {
    if (message.method === "touch") {
      pipe.say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      pipe.answer(message, {});
    } else pipe.answer(message, { tools: [], contents: [], ttlMs: 60_000, cacheScope: "private" });
  };

  it("a fresh list costs no message; a changed one costs one", async () => {
    const { client, count } = await connected(cacheable, "stateless");
    for (let turn = 0; turn < 100; turn++) await client.listTools();
    expect(count("tools/list")).toBe(1);
    await client.request("touch");
    await client.listTools();
    expect(count("tools/list")).toBe(2);
  });

  it("cache: false opts out, for a client and for one call", async () => {
    const { client, count } = await connected(cacheable, "stateless");
    await client.listTools();
    await client.listTools(undefined, { cache: false });
    expect(count("tools/list")).toBe(2);
    const uncached = await connected(cacheable, "stateless", { cache: false });
    await uncached.client.listTools();
    await uncached.client.listTools();
    expect(uncached.count("tools/list")).toBe(2);
  });

  it("BASE-17: hints of a stateful server mean nothing", async () => {
    const { client, count } = await connected(cacheable, "stateful");
    await client.listTools();
    await client.listTools();
    expect(count("tools/list")).toBe(2);
  });

  it("CACHE-05: a result that needed answers is not kept", async () => {
    const script: PipeScript = (message, pipe) => {
      const answered = message.params?.["requestState"] !== undefined;
      const result = { contents: [], ttlMs: 60_000, cacheScope: "public" };
      pipe.answer(message, answered ? result : { resultType: "input_required", requestState: "s" });
    };
    const { client, count } = await connected(script, "stateless");
    await client.readResource("a:");
    await client.readResource("a:");
    expect(count("resources/read")).toBe(4);
  });

  it("CACHE-09: an invalid cursor drops all pages of the list", async () => {
    const script: PipeScript = (message, pipe) => {
      if (message.params?.["cursor"] === "gone") pipe.refuse(message, -32602, "invalid cursor");
      else pipe.answer(message, { tools: [], ttlMs: 60_000, cacheScope: "private" });
    };
    const { client, count } = await connected(script, "stateless");
    await client.listTools();
    await expect(client.listTools("gone")).rejects.toMatchObject({ kind: "invalid_params" });
    await client.listTools();
    expect(count("tools/list")).toBe(3);
  });

  it("a shared store serves clients of one server that are told apart by context", async () => {
    const store = new ResponseCache();
    const a = await connected(cacheable, "stateless", { cache: { store, context: "ada" } });
    await a.client.listTools();
    expect(store.count).toBe(1);
  });

  it("an answer from before a change is not kept after it", async () => {
    const script: PipeScript = (message, pipe) => {
      pipe.say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      pipe.answer(message, { tools: [], ttlMs: 60_000, cacheScope: "private" });
    };
    const { client, count } = await connected(script, "stateless");
    await client.listTools();
    await client.listTools();
    expect(count("tools/list")).toBe(2);
  });
});

describe("middleware", () => {
  it("runs as an onion around every call, and may change what is sent and what is given", async () => {
    const { client, server } = await connected((message, pipe) => pipe.answer(message, { content: [] }), "stateless");
    const order: string[] = [];
    client
      .use(async (call, next) => {
        order.push(`out ${call.method}`);
        const result = await next();
        order.push("back");
        return { ...result, seen: true };
      })
      .use((call, next) => {
        order.push("in");
        if (call.method !== "tools/call") return next();
        return next({ params: { ...call.params, arguments: { changed: true } } });
      });
    expect(await client.callTool("x", { original: true })).toMatchObject({ seen: true });
    expect(memberOf(server.heard().at(-1) ?? { jsonrpc: "2.0" }, "arguments")).toEqual({ changed: true });
    expect(order).toEqual(["out tools/call", "in", "back"]);
  });

  it("may answer without the server, try again, and fail", async () => {
    let failures = 1;
    const script: PipeScript = (message, pipe) =>
      failures-- > 0 ? pipe.refuse(message, -32603, "busy") : pipe.answer(message, { tools: [] });
    const { client, server } = await connected(script, "stateless");
    client.use(async ({ method }, next) => {
      if (method === "prompts/list") return { prompts: [{ name: "local" }] };
      if (method === "resources/list") throw new McpError("declined", "not allowed here");
      return next().catch(() => next());
    });
    expect((await client.listPrompts()).prompts).toHaveLength(1);
    await expect(client.listResources()).rejects.toMatchObject({ kind: "declined" });
    expect((await client.listTools()).tools).toEqual([]);
    expect(server.methods().filter((method) => method === "tools/list")).toHaveLength(2);
  });
});

describe("notifications and the connection", () => {
  it("known ones by method, others by `unknown`; states as they pass", async () => {
    const script: PipeScript = (message, pipe) => {
      pipe.say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      pipe.say({ jsonrpc: "2.0", method: "notifications/of/our/own", params: { a: 1 } });
      pipe.answer(message, { content: [] });
    };
    const { client } = await connected(script, "stateful");
    const heard: unknown[] = [];
    client.on("notifications/tools/list_changed", () => heard.push("tools"));
    client.on("notifications/of/our/own", (params) => heard.push(params));
    client.on("unknown", ({ method, params }) => heard.push([method, params]));
    client.on("state", ({ state }) => heard.push(state));
    await client.callTool("x");
    await client.close();
    expect(heard).toEqual(["tools", { a: 1 }, ["notifications/of/our/own", { a: 1 }], "closed"]);
  });

  it("without their prefix are taken for what they mean, and each is reported as a fault", async () => {
    const script: PipeScript = (message, pipe) => {
      if (message.method === "resources/subscribe") return pipe.answer(message, {});
      const { progressToken } = memberOf(message, "_meta");
      pipe.say({ jsonrpc: "2.0", method: "progress", params: { progressToken, progress: 1 } });
      for (let n = 0; n < 2; n++) pipe.say({ jsonrpc: "2.0", method: "resources/updated", params: { uri: "a://b" } });
      pipe.answer(message, { content: [] });
    };
    const { client } = await connected(script, "stateful");
    const faults: string[] = [];
    const progress: number[] = [];
    client.on("fault", ({ message }) => faults.push(message));
    const changes = await client.subscribe("a://b");
    await client.callTool("x", {}, { onProgress: (report) => progress.push(report.progress) });
    expect((await changes[Symbol.asyncIterator]().next()).value).toMatchObject({ kind: "resource", uri: "a://b" });
    expect(progress).toEqual([1]);
    const updated = "the server sent resources/updated in place of notifications/resources/updated";
    expect(faults).toEqual(["the server sent progress in place of notifications/progress", updated, updated]);
  });

  it("progress is routed to its call and to listeners", async () => {
    const script: PipeScript = (message, pipe) => {
      const { progressToken } = memberOf(message, "_meta");
      pipe.say({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } });
      pipe.answer(message, { content: [] });
    };
    const { client } = await connected(script, "stateless");
    const heard: string[] = [];
    client.on("notifications/progress", () => heard.push("listener"));
    await client.callTool("x", {}, { onProgress: () => heard.push("call") });
    expect(heard).toEqual(["call", "listener"]);
  });

  it("a listener or callback that throws harms nobody", async () => {
    const warnings: string[] = [];
    const script: PipeScript = (message, pipe) => {
      const { progressToken } = memberOf(message, "_meta");
      pipe.say({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } });
      pipe.answer(message, { content: [] });
    };
    const { client } = await connected(script, "stateless", { onWarning: (text) => warnings.push(text) });
    const boom = () => {
      throw new Error("boom");
    };
    client.on("notifications/progress", boom);
    expect(await client.callTool("x", {}, { onProgress: boom })).toEqual({ content: [] });
    expect(warnings).toHaveLength(2);
  });

  it("notify sends any notification, request any request", async () => {
    const { client, server } = await connected(
      (message, pipe) => pipe.answer(message, { echo: message.params?.["a"] }),
      "stateful",
    );
    await client.notify("notifications/of/our/own", { a: 1 });
    expect(await client.request("com.example/echo", { a: 2 })).toMatchObject({ echo: 2 });
    expect(server.methods()).toContain("notifications/of/our/own");
  });

  it("close twice is close once", async () => {
    const { client } = await connected(() => {}, "stateful");
    await Promise.all([client.close(), client.close()]);
    await client.close();
    expect(client.state).toBe("closed");
  });
});
