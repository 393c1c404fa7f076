import { connect, McpError, Server } from "@parley/mcp";
import { stdioTransport } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import { ChangeQueue } from "../../src/client/changes/change-queue.js";
import { collect, walkPages } from "../../src/client/features/pages.js";
import type { Receiver, Transport } from "../../src/transport/transport.js";
import { json, result, scriptedServer } from "../http-client/scripted-server.js";
import { virtualTime } from "../http-client/virtual-time.js";
import { greetsIn, STATEFUL, STATELESS, scriptedPipe } from "./scripted-pipe.js";

const served = () => new Server({ name: "s", version: "1" }).tool("hi", {}, () => "hi");

describe("a log level that does not exist", () => {
  it.each([STATEFUL, STATELESS] as const)("is refused at once in %s, and later calls work", async (revision) => {
    const client = await connect(served(), { revisions: [revision] });
    await expect(client.setLogLevel("warn" as never)).rejects.toMatchObject({
      kind: "misuse",
      message: '"warn" is not a log level; did you mean "warning"?',
      fix: expect.stringContaining("emergency"),
    });
    await expect(client.setLogLevel("" as never)).rejects.toMatchObject({ message: '"" is not a log level' });
    expect(await client.call("hi")).toBe("hi");
    await client.close();
  });

  it("is refused by `connect` before anything is sent", async () => {
    const server = scriptedPipe(() => {});
    await expect(connect(server, { logLevel: "err" as never })).rejects.toMatchObject({
      message: '"err" is not a log level; did you mean "error"?',
    });
    expect(server.pipes).toEqual([]);
  });
});

describe("a mistake of this program", () => {
  it("in `args` is named, and the server is not blamed", async () => {
    await expect(connect({ command: process.execPath, args: "server.js" as never })).rejects.toMatchObject({
      kind: "invalid_definition",
      message: '`args` of the command is "server.js", not a list',
      fix: expect.stringContaining("args: ["),
    });
  });

  it.each([
    [{ command: undefined }, "`command` of the command is undefined, not the name of a program"],
    [{ command: 5 }, "`command` of the command is 5, not the name of a program"],
    [{ command: " " }, '`command` of the command is " ", not the name of a program'],
    [{ args: [undefined] }, "`args[0]` of the command is undefined, not a string"],
    [{ args: ["x", 3000] }, "`args[1]` of the command is 3000, not a string"],
    [{ args: new Array(1) }, "`args[0]` of the command is undefined, not a string"],
    [{ command: Object.create(null) }, "`command` of the command is an object, not the name of a program"],
    [{ env: { TOKEN: "secret\0" } }, "`env.TOKEN` of the command is a string with U+0000, not a variable"],
    [{ env: "A=b" }, '`env` of the command is "A=b", not an object'],
    [{ env: { PORT: 3000 } }, "`env.PORT` of the command is of type number, not a string"],
    [{ env: { TOKEN: null } }, "`env.TOKEN` of the command is null, not a string"],
    [{ cwd: 5 }, "`cwd` of the command is 5, not a string"],
    [{ inheritEnv: "PATH" }, '`inheritEnv` of the command is "PATH", not a list of names'],
    [{ stderr: "ignore" }, '`stderr` of the command is "ignore", not "capture", "inherit" or a function'],
  ])("in the command is named, by `connect` and by `stdioTransport`: %j", async (wrong, message) => {
    const target = { command: process.execPath, args: ["--version"], ...wrong } as never;
    const refusal = { kind: "invalid_definition", message, fix: expect.stringContaining("Pass") };
    await expect(connect(target)).rejects.toMatchObject(refusal);
    expect(() => stdioTransport(target)).toThrow(expect.objectContaining(refusal));
  });

  it.each([
    [{ tasks: {} }, "`capabilities` declares `tasks`, which this client does not support"],
    [{ experimental: 5 }, "`capabilities.experimental` of connect is not an object"],
  ])("in the capabilities is named: %j", async (capabilities, message) => {
    const options = { capabilities: capabilities as never };
    await expect(connect(new Server({ name: "s", version: "1" }), options)).rejects.toMatchObject({
      kind: "invalid_definition",
      message,
    });
  });

  it("is none where a variable of the environment is not set", async () => {
    const env = { UNSET: undefined as never };
    expect(stdioTransport({ command: "program", env }).target).toBe("program");
  });
});

describe("pictures and pages that a server names", () => {
  const hostile = ["javascript:alert(1)", "file:///etc/passwd", "http://example.com/i.png", "https://u:p@example.com/"];
  const icons = (src: string) => [{ src }];

  it.each(hostile)("are left out with a warning: %s", async (src) => {
    const warnings: string[] = [];
    const server = scriptedPipe((message, pipe) => {
      const serverInfo = { name: "s", version: "1", icons: icons(src), websiteUrl: src };
      if (message.method === "server/discover") {
        const meta = { "io.modelcontextprotocol/serverInfo": serverInfo };
        pipe.answer(message, { supportedVersions: [STATELESS], capabilities: { tools: {} }, _meta: meta });
      } else pipe.answer(message, { tools: [{ name: "t", inputSchema: { type: "object" }, icons: icons(src) }] });
    });
    const client = await connect(server, { onWarning: (message) => void warnings.push(message) });
    expect(client.serverInfo).toEqual({ name: "s", version: "1" });
    expect(await client.allTools()).toEqual([{ name: "t", inputSchema: { type: "object" } }]);
    expect(warnings).toEqual([expect.stringContaining("icons")]);
    await client.close();
  });

  it.each(["https://example.com/i.png", "data:image/png;base64,AA==", "http://localhost:1/i.png"])(
    "stay: %s",
    async (src) => {
      const served = new Server({ name: "s", version: "1", icons: icons(src) }).tool(
        "t",
        { icons: icons(src) },
        () => "",
      );
      const client = await connect(served);
      expect(client.serverInfo?.icons).toEqual(icons(src));
      expect((await client.allTools())[0]?.icons).toEqual(icons(src));
      await client.close();
    },
  );
});

describe("a transport of the application", () => {
  it("may report a lost session without any data", async () => {
    let receiver: Receiver | undefined;
    const server = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateful", message, pipe)) pipe.answer(message, {});
    });
    const inner = server.makeTransport();
    const transport: Transport = {
      kind: inner.kind,
      target: inner.target,
      open(given) {
        receiver = given;
        return inner.open(given);
      },
      request: (request) => inner.request(request),
      notify: (notification) => inner.notify(notification),
      abandon: (id, reason) => inner.abandon(id, reason),
      close: () => inner.close(),
    };
    const client = await connect(transport);
    expect(() => receiver?.fault(new McpError("session_lost", "gone"))).not.toThrow();
    await client.ping();
    expect(server.methods().filter((method) => method === "initialize")).toHaveLength(2);
    await client.close();
  });
});

describe("a `trace` hook that throws", () => {
  it("costs the call nothing and is reported", async () => {
    const warnings: string[] = [];
    const client = await connect(served(), {
      trace: () => {
        throw new Error("no tracer");
      },
      onWarning: (message) => void warnings.push(message),
    });
    expect(await client.call("hi")).toBe("hi");
    expect(warnings[0]).toContain("`trace` failed: no tracer");
    await client.close();
  });
});

describe("names that are not ASCII", () => {
  it("HTTP26-27: go into `Mcp-Name` encoded", async () => {
    const seen: unknown[] = [];
    const server = await scriptedServer((request, response) => {
      const discovery = { supportedVersions: [STATELESS], capabilities: { tools: {} } };
      if (request.message?.method === "server/discover") return json(response, result(request, discovery));
      seen.push(request.headers["mcp-name"]);
      json(response, result(request, { content: [] }));
    });
    const client = await connect(server.url);
    await client.callTool("grüße 世界");
    expect(seen).toEqual([`=?base64?${Buffer.from("grüße 世界").toString("base64")}?=`]);
    await client.close();
    await server.close();
  });
});

describe("MRTR-06: the retry of a call with questions", () => {
  it("repeats the headers of its arguments", async () => {
    const seen: unknown[] = [];
    const inputSchema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
    const server = await scriptedServer((request, response) => {
      const { method, params } = request.message ?? {};
      if (method === "server/discover")
        return json(response, result(request, { supportedVersions: [STATELESS], capabilities: { tools: {} } }));
      if (method === "tools/list") return json(response, result(request, { tools: [{ name: "t", inputSchema }] }));
      seen.push(request.headers["mcp-param-region"]);
      const first = (params as { requestState?: string }).requestState === undefined;
      json(response, result(request, first ? { resultType: "input_required", requestState: "s" } : { content: [] }));
    });
    const client = await connect(server.url);
    await client.allTools();
    await client.callTool("t", { region: "eu" });
    expect(seen).toEqual(["eu", "eu"]);
    await client.close();
    await server.close();
  });
});

describe("SUB-06: a subscription", () => {
  it("outlives the idle and the total deadline of calls", async () => {
    const time = virtualTime();
    const server = scriptedPipe((message, pipe) => {
      if (greetsIn("stateless", message, pipe)) return;
      const _meta = { "io.modelcontextprotocol/subscriptionId": message.id };
      const method = "notifications/subscriptions/acknowledged";
      pipe.say({ jsonrpc: "2.0", method, params: { _meta, notifications: { toolsListChanged: true } } });
    });
    const client = await connect(server, { platform: time.platform, timeouts: { idleMs: 1_000, totalMs: 5_000 } });
    const subscription = await client.subscribe({ tools: true });
    time.platform.timer(3_600_000, () => {});
    while (time.next(3_600_000)) await new Promise((resolve) => setImmediate(resolve));
    const id = server.heard().find(({ method }) => method === "subscriptions/listen")?.id;
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    server.pipes[0]?.say({ jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { _meta } });
    for await (const change of subscription) {
      expect(change).toEqual({ kind: "tools", missed: false });
      break;
    }
    expect(server.methods().filter((method) => method === "subscriptions/listen")).toHaveLength(1);
    await client.close();
  });
});

describe("changes that nobody reads", () => {
  it("are told as missed beyond a thousand", async () => {
    const queue = new ChangeQueue();
    for (let n = 0; n < 1500; n++) queue.push({ kind: "resource", uri: `r:${n}`, missed: false });
    queue.end();
    const all: unknown[] = [];
    for (let next = await queue.next(); next.done !== true; next = await queue.next()) all.push(next.value);
    expect(all.length).toBeLessThanOrEqual(1001);
    expect(all).toContainEqual({ kind: "resource", missed: true });
    expect(all.at(-1)).toEqual({ kind: "resource", uri: "r:1499", missed: false });
  });
});

describe("CACHE-09: a cursor that the server no longer takes", () => {
  it("makes the walk begin again, once, and gives nothing twice", async () => {
    let lists = 0;
    const pages: Record<string, object> = { a: { items: ["3"], next: "b" }, b: { items: ["4"] } };
    const walk = (broken: (cursor: string | undefined) => boolean) =>
      collect(
        walkPages(
          "things",
          async (cursor) => {
            if (cursor === undefined) lists++;
            if (broken(cursor)) throw new McpError("invalid_params", "no such cursor");
            const first = { items: ["1", "2"], next: "a" };
            return { next: undefined, ...(cursor === undefined ? first : pages[cursor]) } as never;
          },
          (item: string) => item,
        ),
      );
    expect(await walk((cursor) => cursor === "b" && lists === 1)).toEqual(["1", "2", "3", "4"]);
    expect(lists).toBe(2);
    await expect(walk((cursor) => cursor === "b")).rejects.toMatchObject({ kind: "invalid_params" });
    expect(lists).toBe(4);
  });
});

describe("output schemas without a bound", () => {
  it("are remembered up to 8 Mi characters, and the rest is named", async () => {
    const warnings: string[] = [];
    const schema = { type: "object", description: "x".repeat(3 * 1024 * 1024), required: ["a"] };
    const server = scriptedPipe((message, pipe) => {
      if (greetsIn("stateless", message, pipe)) return;
      if (message.method !== "tools/list") return pipe.answer(message, { content: [], structuredContent: {} });
      const tools = [1, 2, 3, 4].map((n) => ({ name: `t${n}`, inputSchema: { type: "object" }, outputSchema: schema }));
      pipe.answer(message, { tools });
    });
    const client = await connect(server, { onWarning: (message) => void warnings.push(message) });
    for (let round = 0; round < 2; round++) await client.allTools({ cache: false });
    await expect(client.callTool("t1")).rejects.toMatchObject({ kind: "invalid_response" });
    expect(await client.callTool("t4")).toMatchObject({ structuredContent: {} });
    expect(warnings).toHaveLength(4);
    expect(warnings[0]).toContain('"t3"');
    await client.close();
  });
});
