import { type Client, type ClientOptions, connect, McpError, Server } from "@parley/mcp";
import { defineExtension, ExtensionResult, type ServedExtension } from "@parley/mcp/extension";
import { quotas } from "@parley/mcp/limits";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import type { ConnectedExtension } from "../../src/client/contract/extension.js";
import { greetsIn, type Heard, scriptedPipe } from "../client/scripted-pipe.js";
import { Drive, textOf } from "../server/drive.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const INFO = { name: "s", version: "1" };
const REVISIONS = ["2026-07-28", "2025-11-25"] as const;

const request = (method: string, more: object = {}) =>
  ({ method, kind: "request", sender: "client", first: "2024-11-05", ...more }) as const;

/** An extension that does one thing at the server. */
const served = (name: string, made: ServedExtension, more: object = {}) =>
  defineExtension({ id: `com.example/${name}`, settings: {}, ...more, server: () => made });

/** An extension that does one thing at the client. */
const connected = <F>(name: string, made: ConnectedExtension<F>, more: object = {}) =>
  defineExtension<F>({ id: `com.example/${name}`, settings: {}, ...more, client: () => made });

async function open(target: Parameters<typeof connect>[0], options: ClientOptions): Promise<Client> {
  const client = await connect(target, options);
  cleanups.push(() => client.close());
  return client as Client;
}

describe("definitions that cannot work are refused by `defineExtension`", () => {
  const row = request("com.example/x");
  const cases: [string, object, RegExp][] = [
    ["no prefix", { id: "x" }, /"x" is not the id of an extension/],
    ["no id", { id: undefined }, /is not the id of an extension/],
    ["an empty name", { id: "com.example/" }, /is not the id/],
    ["no settings", { settings: undefined }, /has no settings/],
    ["settings that are a list", { settings: [] }, /has no settings/],
    ["an unknown member", { handlers: {} }, /"handlers" is not an option of an extension/],
    ["a requirement without a prefix", { requires: ["y"] }, /in `requires` that is not the id of another extension/],
    ["a requirement that is no list", { requires: "com.example/y" }, /in `requires` that is not the id/],
    ["itself as a requirement", { requires: ["com.example/x"] }, /in `requires` that is not the id of another/],
    ["an unknown revision", { first: "2026-01-01" }, /the unknown revision "2026-01-01" as `first`/],
    ["a method of the protocol", { methods: [request("tools/call")] }, /redefines the method "tools\/call"/],
    ["a method without a name", { methods: [{ ...row, method: undefined }] }, /a method without a name/],
    ["a method without a kind", { methods: [{ ...row, kind: undefined }] }, /without a kind/],
    ["a method without a sender", { methods: [{ ...row, sender: "me" }] }, /without a sender/],
    ["a method without a revision", { methods: [{ ...row, first: undefined }] }, /the unknown revision undefined/],
    ["a result type of the protocol", { resultTypes: ["complete"] }, /the result type "complete" of the protocol/],
    [
      "a filter of the protocol",
      { listenFilters: ["toolsListChanged"] },
      /the filter "toolsListChanged" of the protocol/,
    ],
  ];
  it.each(cases)("%s", (_name, wrong, message) => {
    const make = () => defineExtension({ id: "com.example/x", settings: {}, ...wrong } as never);
    expect(make).toThrow(message);
    expect(make).toThrow(expect.objectContaining({ kind: "invalid_definition", fix: expect.stringMatching(/\.$/) }));
  });
});

describe("what an extension adds to a server", () => {
  const wrong: [string, object, RegExp][] = [
    [
      "a handler of an unlisted method",
      { handlers: { "com.example/y": () => ({}) } },
      /`handlers` of `server`.* "com.example\/y", which it does not declare/,
    ],
    [
      "a handler of a method of the protocol",
      { handlers: { "tools/list": () => ({}) } },
      /"tools\/list", which it does not declare/,
    ],
    ["around a method that does not exist", { around: { "tools/cal": () => ({}) } }, /`around` of .* "tools\/cal"/],
    ["values of an unlisted filter", { listenValues: { things: () => [] } }, /`listenValues` of .* "things"/],
    ["an unknown member", { handler: {} }, /"handler" is not an option of .*did you mean "handlers"/],
  ];
  it.each(wrong)("is refused: %s", (_name, made, message) => {
    expect(() => new Server(INFO, { extensions: [served("x", made as never)] })).toThrow(message);
  });

  it("is refused when it is no object, and when `server` is asynchronous", () => {
    for (const [made, said] of [
      [undefined, "undefined"],
      [5, "5"],
      [Promise.resolve({}), "a promise"],
    ] as const) {
      expect(() => new Server(INFO, { extensions: [served("x", made as never)] })).toThrow(`returned ${said}`);
    }
  });

  it("is refused the second time, with methods and without", () => {
    const plain = served("x", {});
    const rows = served("x", {}, { methods: [request("com.example/x")] });
    expect(() => new Server(INFO, { extensions: [plain, plain] })).toThrow("com.example/x was given twice");
    expect(() => new Server(INFO, { extensions: [rows, rows] })).toThrow("com.example/x was given twice");
    const other = served("y", {}, { methods: [request("com.example/x")] });
    expect(() => new Server(INFO, { extensions: [rows, other] })).toThrow(/is defined twice/);
  });

  it("is refused when two have one option of tools", () => {
    const both = ["x", "y"].map((name) => served(name, { toolOptions: { task: () => ({}) } }));
    expect(() => new Server(INFO, { extensions: both })).toThrow(/define the tool option `task`/);
  });

  it("fails the construction by its name, with its own error as the cause", () => {
    const made = (error: Error) => () =>
      new Server(INFO, {
        extensions: [
          defineExtension({
            id: "com.example/x",
            settings: {},
            server: () => {
              throw error;
            },
          }),
        ],
      });
    const cause = new Error("no license");
    const message = "`server` of the extension com.example/x failed: no license";
    expect(made(cause)).toThrow(expect.objectContaining({ kind: "invalid_definition", message, cause }));
    const own = new McpError("misuse", "no license");
    expect(made(own)).toThrow(own);
  });
});

describe.each(REVISIONS)("two extensions around one method, %s", (revision) => {
  const steps: string[] = [];
  const around = (name: string) =>
    served(name, {
      around: {
        async "tools/call"(_call, next) {
          steps.push(`${name} in`);
          try {
            return await next();
          } finally {
            steps.push(`${name} out`);
          }
        },
      },
    });

  it("run one inside the other, in the order given, outside middleware", async () => {
    steps.length = 0;
    const server = new Server(INFO, { extensions: [around("a"), around("b")] }).tool("add", () => {
      steps.push("tool");
      return "three";
    });
    server.use(async (_ctx, next) => {
      steps.push("middleware");
      return next();
    });
    const client = await open(server, { revisions: [revision] });
    expect(await client.call("add")).toBe("three");
    // What came before are the requests of the handshake.
    expect(steps.slice(steps.indexOf("a in"))).toEqual(["a in", "b in", "middleware", "tool", "b out", "a out"]);
  });

  it("also when the outer one runs the call as a task", async () => {
    steps.length = 0;
    const server = new Server(INFO, { extensions: [tasks({ pollIntervalMs: 10 }), around("b")] }).tool(
      "add",
      { task: "required" },
      () => {
        steps.push("tool");
        return "three";
      },
    );
    const client = await open(server, { revisions: [revision], extensions: [tasks()] });
    expect(await client.call("add")).toBe("three");
    expect(steps).toEqual(["b in", "tool", "b out"]);
  });

  it("one that refuses keeps the inner one and the tool from running", async () => {
    steps.length = 0;
    const guard = served("guard", {
      around: {
        "tools/call": () => {
          throw new McpError("invalid_params", "no license");
        },
      },
    });
    const server = new Server(INFO, { extensions: [around("a"), guard, around("b")] }).tool("add", () => "three");
    const client = await open(server, { revisions: [revision] });
    await expect(client.call("add")).rejects.toMatchObject({ kind: "invalid_params", message: "no license" });
    expect(steps).toEqual(["a in", "a out"]);
  });
});

describe("a task of a call that a later extension answers in its own form", () => {
  it("fails with a reason", async () => {
    const vouchers = served(
      "vouchers",
      {
        around: {
          async "tools/call"(_call, next) {
            await next();
            return new ExtensionResult("voucher", { v: 1 });
          },
        },
      },
      { resultTypes: ["voucher"] },
    );
    const server = new Server(INFO, { extensions: [tasks({ pollIntervalMs: 10 }), vouchers] }).tool(
      "add",
      { task: "required" },
      () => "three",
    );
    const client = await open(server, { revisions: ["2026-07-28"], extensions: [tasks()] });
    await expect(client.call("add")).rejects.toThrow(/another extension answered the call/);
  });
});

describe("servers that are part of others, or made of objects", () => {
  const counting = () => {
    let count = 0;
    return served(
      "count",
      {
        handlers: { "com.example/count": () => ({ count }) },
        around: {
          "tools/call": (_call, next) => {
            count++;
            return next();
          },
        },
      },
      { methods: [request("com.example/count")] },
    );
  };

  it.each(REVISIONS)(
    "%s: extensions of a mounted server stay its own; those of the outer one see its tools",
    async (revision) => {
      const inner = new Server(INFO, { extensions: [counting()] }).tool("add", () => "three");
      const outer = new Server(INFO, { extensions: [counting()] }).mount("math", inner);
      const [client, direct] = [
        await open(outer, { revisions: [revision] }),
        await open(inner, { revisions: [revision] }),
      ];
      expect(await client.call("math_add")).toBe("three");
      expect(await client.request("com.example/count", {})).toMatchObject({ count: 1 });
      expect(await direct.request("com.example/count", {})).toMatchObject({ count: 0 });
    },
  );

  it.each(REVISIONS)(
    "%s: tools of a mounted server run as tasks of the server that the client is connected to",
    async (revision) => {
      const inner = new Server(INFO, { extensions: [tasks()] }).tool(
        "slow",
        { task: "required" },
        async (_args, ctx) => {
          return `task ${await ctx.startTask()}`;
        },
      );
      const outer = new Server(INFO, { extensions: [tasks()] }).mount("m", inner);
      const client = await open(outer, { revisions: [revision], extensions: [tasks()] });
      expect(await client.call("m_slow")).toBe("task true");
    },
  );

  it.each(REVISIONS)("%s: a server from an object has extensions like others", async (revision) => {
    const handler = {
      listTools: () => ({ tools: [{ name: "add", inputSchema: { type: "object" as const } }] }),
      callTool: () => ({ content: [{ type: "text" as const, text: "three" }] }),
    };
    const server = Server.from(handler, INFO, { extensions: [counting(), tasks()] });
    const client = await open(server, { revisions: [revision] });
    expect(await client.call("add")).toBe("three");
    expect(await client.request("com.example/count", {})).toMatchObject({ count: 1 });
  });
});

describe("what an extension adds to a client", () => {
  const server = new Server(INFO).tool("echo", {}, (_args, ctx) => JSON.stringify(ctx.meta["com.example/path"] ?? []));
  const wrong: [string, object, RegExp][] = [
    [
      "a handler of an unlisted method",
      { handlers: { "com.example/y": () => ({}) } },
      /`handlers` of `client`.* "com.example\/y"/,
    ],
    ["the completion of an unlisted result type", { completes: { odd: () => ({}) } }, /`completes` of .* "odd"/],
    ["an unknown member", { features: 1 }, /did you mean "feature"/],
  ];
  it.each(wrong)("is refused: %s", async (_name, made, message) => {
    await expect(connect(server, { extensions: [connected("x", made as never)] })).rejects.toThrow(message);
  });

  it("is refused when it is no object, and the second time", async () => {
    await expect(connect(server, { extensions: [connected("x", undefined as never)] })).rejects.toThrow(
      "returned undefined",
    );
    const plain = connected("x", {});
    await expect(connect(server, { extensions: [plain, plain] })).rejects.toThrow("com.example/x was given twice");
  });

  it("rejects the connection with the error of `client`", async () => {
    const extension = defineExtension({
      id: "com.example/x",
      settings: {},
      client: () => {
        throw new McpError("misuse", "no license");
      },
    });
    await expect(connect(server, { extensions: [extension] })).rejects.toThrow("no license");
  });

  it("changes parameters one after the other, in the order given", async () => {
    const adding = (name: string) =>
      connected(name, {
        outgoing: {
          "tools/call": async (params) => {
            const meta = (params?.["_meta"] ?? {}) as Record<string, unknown>;
            const path = [...((meta["com.example/path"] ?? []) as string[]), name];
            return { ...params, _meta: { ...meta, "com.example/path": path } };
          },
        },
      });
    for (const revision of REVISIONS) {
      const client = await open(server, { revisions: [revision], extensions: [adding("a"), adding("b")] });
      expect(await client.call("echo")).toBe('["a","b"]');
    }
  });

  it("declares capabilities beside those of others", async () => {
    const declaring = (name: string) => connected(name, { capabilities: () => ({ experimental: { [name]: {} } }) });
    const pipe = scriptedPipe((message, own) => void greetsIn("stateful", message, own));
    await open(pipe, { revisions: ["2025-11-25"], extensions: [declaring("a"), declaring("b")] });
    expect(pipe.heard()[0]?.params?.["capabilities"]).toMatchObject({ experimental: { a: {}, b: {} } });
  });

  it("runs around answers one inside the other, and gives up the inner ones with its signal", async () => {
    const steps: string[] = [];
    const controller = new AbortController();
    const around = (name: string, signal?: AbortSignal) =>
      connected(name, {
        async answering(_question, answer, context) {
          steps.push(name);
          context.signal.addEventListener("abort", () => steps.push(`${name} aborted`));
          return { ...(await answer(signal)), [name]: 1 };
        },
      });
    const answers: Heard[] = [];
    const pipe = scriptedPipe((message, own) => {
      if (message.method === undefined) answers.push(message);
      else greetsIn("stateful", message, own);
    });
    await open(pipe, {
      revisions: ["2025-11-25"],
      extensions: [around("a", controller.signal), around("b")],
      onElicit: (_question, { signal }) => {
        controller.abort();
        return { action: "accept", content: { aborted: String(signal.aborted) } };
      },
    });
    const params = { message: "?", requestedSchema: { type: "object", properties: { aborted: { type: "string" } } } };
    pipe.pipes[0]?.say({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params });
    await expect.poll(() => answers.length).toBe(1);
    expect(answers[0]?.result).toEqual({ action: "accept", content: { aborted: "true" }, a: 1, b: 1 });
    expect(steps).toEqual(["a", "b", "b aborted"]);
  });

  it("cannot keep the client open by failing to close", async () => {
    const warnings: string[] = [];
    let closed = false;
    const extensions = [
      connected("x", {
        close: () => {
          throw new Error("boom");
        },
      }),
      connected("y", {
        close: () => {
          closed = true;
        },
      }),
    ];
    const client = await connect(server, { extensions, onWarning: (text) => warnings.push(text) });
    await client.close();
    expect(closed).toBe(true);
    expect(warnings).toEqual([expect.stringContaining("close of the extension com.example/x` failed: boom")]);
  });

  it("is not asked to complete what a hostile server calls by a name of every object", async () => {
    for (const resultType of ["constructor", "__proto__", "toString"]) {
      const pipe = scriptedPipe((message, own) => {
        if (!greetsIn("stateless", message, own)) own.answer(message, { resultType, content: [] });
      });
      const extensions = [
        connected("x", { completes: { voucher: async () => ({ content: [] }) } }, { resultTypes: ["voucher"] }),
      ];
      const client = await open(pipe, { revisions: ["2026-07-28"], extensions });
      await expect(client.callTool("add")).rejects.toMatchObject({ kind: "invalid_response" });
    }
  });
});

it("a call that an extension runs is neither counted nor observed again, whatever methods the extension runs around", async () => {
  const run = defineExtension({
    id: "com.example/run",
    settings: {},
    methods: [request("com.example/run")],
    server: (server) => ({
      handlers: {
        "com.example/run": (_params, { request: sent, exchange }) =>
          server.run({ ...sent, method: "tools/call", params: { name: "t" } }, exchange),
      },
    }),
  });
  const limits = quotas({ perPrincipal: { rate: { calls: 2, perMs: 60_000 } } });
  const server = new Server(INFO, { extensions: [run], quotas: limits }).tool("t", {}, () => "ran");
  const seen: string[] = [];
  server.observe({ started: ({ method }) => void seen.push(method) });
  const drive = new Drive(server, { principal: { key: "a" }, capabilities: { extensions: { [run.id]: {} } } });
  for (let call = 0; call < 2; call++) expect(textOf(await drive.send("com.example/run"))).toBe("ran");
  expect(seen).toEqual(["com.example/run", "com.example/run"]);
});
