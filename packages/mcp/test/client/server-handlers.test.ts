import { connect, McpError, Server } from "@parley/mcp";
import { afterEach, describe, expect, it } from "vitest";
import type { ClientOptions } from "../../src/client/contract/options.js";
import { REVISIONS } from "../../src/protocol/revisions.js";
import { greetsIn, type Heard, type Pipe, scriptedPipe } from "./scripted-pipe.js";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A server that sends requests, and what the client answers to them. */
async function asking(options: ClientOptions) {
  const answers = new Map<unknown, (answer: Heard) => void>();
  let pipe: Pipe | undefined;
  const server = scriptedPipe((message, own) => {
    pipe = own;
    if (message.method === undefined) answers.get(message.id)?.(message);
    else greetsIn("stateful", message, own);
  });
  const client = await connect(server, options);
  open.push(client);
  let last = 0;
  const ask = (method: string, params?: object) => {
    const id = `q${++last}`;
    const answer = new Promise<Heard>((resolve) => answers.set(id, resolve));
    pipe?.say({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
    return answer;
  };
  return { server, client, ask };
}

describe("requests of a server", () => {
  it("go to the handler of their method, with parameters, a signal and the server's name", async () => {
    const { ask } = await asking({
      handlers: {
        "acme/double": ({ n }, { signal, server }) => ({ n: Number(n) * 2, by: server?.name, late: signal.aborted }),
        "acme/nothing": () => undefined,
        "acme/refuse": () => Promise.reject(new McpError("declined", "not now")),
        "acme/wrong": () => [1] as object,
        "acme/throws": () => {
          throw new Error("broken");
        },
      },
    });
    expect((await ask("acme/double", { n: 4 })).result).toEqual({ n: 8, by: "scripted", late: false });
    expect((await ask("acme/nothing")).result).toEqual({});
    expect((await ask("acme/refuse")).error).toEqual({ code: -1, message: "not now" });
    expect((await ask("acme/wrong")).error).toMatchObject({ code: -32603 });
    expect((await ask("acme/throws")).error).toMatchObject({
      code: -32603,
      message: "the application could not answer",
    });
    expect((await ask("acme/other")).error).toMatchObject({ code: -32601 });
    expect((await ask("toString")).error).toMatchObject({ code: -32601 });
    expect((await ask("ping")).result).toEqual({});
  });

  it("that have options of their own are declared by them, and refused in `handlers`", async () => {
    const options: [ClientOptions, object][] = [
      [{ onElicit: () => ({ action: "decline" }) }, { elicitation: { form: {}, url: {} } }],
      [{ onElicit: () => ({ action: "decline" }), elicitUrls: false }, { elicitation: { form: {} } }],
      [{ onSample: () => Promise.reject(new Error("no")) }, { sampling: { tools: {} } }],
      [{ roots: [] }, { roots: { listChanged: true } }],
      [{ handlers: { "acme/x": () => ({}) } }, {}],
    ];
    for (const [given, declared] of options) {
      const { server } = await asking({ ...given, revisions: ["2025-11-25"] });
      expect(server.heard()[0]?.params?.["capabilities"]).toEqual(declared);
    }
    for (const method of ["elicitation/create", "sampling/createMessage", "roots/list", "ping"]) {
      await expect(asking({ handlers: { [method]: () => ({}) } })).rejects.toMatchObject({
        kind: "invalid_definition",
        message: expect.stringContaining(method),
      });
    }
    await expect(asking({ handlers: { "acme/x": 5 as never } })).rejects.toMatchObject({ kind: "invalid_definition" });
  });
});

describe("notifications", () => {
  it("that nobody reads are given up beyond a thousand, and counted", async () => {
    const { server, client } = await asking({});
    const all = client.notifications();
    let heard = 0;
    client.on("notification", () => heard++);
    const [pipe] = server.pipes;
    for (let n = 1; n <= 1500; n++) pipe?.say({ jsonrpc: "2.0", method: "notifications/acme", params: { n } });
    pipe?.say({ jsonrpc: "2.0", method: "notifications/message", params: {} });
    await expect.poll(() => heard).toBe(1500);
    expect((await all.next()).value).toEqual({ method: "notifications/acme", params: { n: 501 }, missed: 500 });
    expect((await all.next()).value).toEqual({ method: "notifications/acme", params: { n: 502 }, missed: 0 });
    await all.return?.();
    expect((await all.next()).value).toMatchObject({ params: { n: 503 } });
  });

  it("a listener that throws or rejects ends nothing, and is named in a warning", async () => {
    const warnings: string[] = [];
    const { server, client } = await asking({ onWarning: (message) => warnings.push(message) });
    client.on("notification", () => {
      throw new Error("first");
    });
    client.on("notification", async () => {
      throw new Error("second");
    });
    const all = client.notifications();
    server.pipes[0]?.say({ jsonrpc: "2.0", method: "notifications/acme" });
    expect((await all.next()).value).toEqual({ method: "notifications/acme", missed: 0 });
    await expect.poll(() => warnings).toEqual([expect.stringContaining("first"), expect.stringContaining("second")]);
  });
});

describe("errors of calls", () => {
  it("name the operation also where several calls end with one loss", async () => {
    const server = scriptedPipe((message, pipe) => void greetsIn("stateful", message, pipe));
    let connections = 0;
    const makeTransport = () => {
      // One that does not pass by waiting.
      if (++connections > 2) throw new McpError("auth_required", "who are you?");
      return server.makeTransport();
    };
    const client = await connect({ makeTransport }, { revisions: ["2025-11-25"] });
    open.push(client);
    const recovering = new Promise((resolve) => client.on("state", resolve));
    connections = 2;
    server.pipes[0]?.end();
    await recovering;
    const lost = await Promise.all([
      client.tryCall("a"),
      client.tryRequest("resources/read", { uri: "note://b" }),
      client.tryGetPrompt("c"),
    ]);
    expect(lost.map((one) => (one.ok ? undefined : one.error.operation))).toEqual([
      { method: "tools/call", target: "a" },
      { method: "resources/read", target: "note://b" },
      { method: "prompts/get", target: "c" },
    ]);
    expect(lost.map((one) => (one.ok ? undefined : one.error.kind))).toEqual(Array(3).fill("auth_required"));
  });

  it("name it where the answer is wrong", async () => {
    const server = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateful", message, pipe)) pipe.answer(message, { wrong: true });
    });
    const client = await connect(server);
    open.push(client);
    const error = await client.complete({ prompt: "p" }, { name: "a", value: "" }).catch(McpError.from);
    expect(error).toMatchObject({
      kind: "invalid_response",
      operation: { method: "completion/complete", target: "p" },
    });
    await expect(client.callTool("t")).rejects.toMatchObject({ operation: { method: "tools/call", target: "t" } });
    await expect(client.listTools()).rejects.toMatchObject({ operation: { method: "tools/list" } });
    await expect(client.readResource("x:1")).rejects.toMatchObject({ operation: { target: "x:1" } });
  });
});

describe("what a client says of itself", () => {
  const more = {
    description: "Reads",
    websiteUrl: "https://reader.example",
    icons: [{ src: "https://reader.example/i" }],
  };
  const server = () =>
    new Server({ name: "s", version: "1" }).tool("who", {}, (_args, { client }) => JSON.stringify(client));

  it.each(REVISIONS)("has the members that %s defines", async (revision) => {
    const client = await connect(server(), {
      ...{ name: "r", version: "2", title: "R", ...more },
      revisions: [revision],
    });
    open.push(client);
    expect(JSON.parse(await client.call("who")).info).toEqual({
      ...{ name: "r", version: "2" },
      ...(revision < "2025-06-18" ? {} : { title: "R" }),
      ...(revision < "2025-11-25" ? {} : more),
    });
  });

  it.each(REVISIONS)("has the capabilities that it is given, in %s", async (revision) => {
    const client = await connect(server(), {
      revisions: [revision],
      roots: [],
      capabilities: { experimental: { "acme/x": {} }, roots: {}, acme: { y: 1 } },
    });
    open.push(client);
    const { capabilities } = JSON.parse(await client.call("who"));
    expect(capabilities).toEqual({ experimental: { "acme/x": {} }, roots: {}, acme: { y: 1 } });
  });

  it.each([
    [
      { capabilities: { elicitation: {} } },
      "`capabilities` declares `elicitation`, but `connect` got no handler for it",
      "`onElicit`",
    ],
    [
      { capabilities: { sampling: {} } },
      "`capabilities` declares `sampling`, but `connect` got no handler for it",
      "`onSample`",
    ],
    [
      { capabilities: { roots: {} } },
      "`capabilities` declares `roots`, but `connect` got no handler for it",
      "`roots`",
    ],
    [
      { capabilities: { extensions: {} } },
      "`capabilities` declares `extensions`, but `connect` got no handler for it",
      "`extensions`",
    ],
    [{ capabilities: [] }, "`capabilities` of connect is not an object", "experimental"],
    [{ title: 5 }, "`title` of connect is a number", "string"],
    [{ icons: ["i.png"] }, "`icons` of connect is not a list of icons", "src"],
  ])("is refused where nothing stands behind it: %j", async (options, message, fix) => {
    await expect(connect(server(), options as never)).rejects.toMatchObject({
      kind: "invalid_definition",
      message,
      fix: expect.stringContaining(fix),
    });
  });
});
