import {
  type CallOptions,
  type ClientMiddleware,
  type ClientOf,
  type ClientOptions,
  connect,
  content,
  type HandlerContext,
  message,
  type PromptDefinition,
  prompt,
  promptTemplate,
  type ResourceDefinition,
  type ResourceTemplateDefinition,
  Server,
  type ServerHandler,
  type ServerOptions,
  type ToolDefinition,
  ToolError,
  tool,
} from "@parley/mcp";
import type { HttpServerOptions } from "@parley/mcp/http";
import type {
  NodeWebSocketOptions,
  ServeHttpOptions,
  ServeSocketOptions,
  ServeStdioOptions,
  ServeWebSocketOptions,
  SocketTransportOptions,
  StdioOptions,
} from "@parley/mcp/node";
import { type DeleteOptions, type LogLimits, memoryStorage, type SetOptions } from "@parley/mcp/storage";
import { tasks } from "@parley/mcp/tasks";
import type { ChaosOptions } from "@parley/mcp/testing";
import type {
  Answer,
  CommandTarget,
  Endpoint,
  Exchange,
  HttpTimeouts,
  HttpTransportOptions,
  Outgoing,
  Platform,
  ServeChannelOptions,
  WebSocketTransportOptions,
} from "@parley/mcp/transport";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";

const info = { name: "types", version: "1" };

/** The optional members of `T` that refuse `undefined`; under `exactOptionalPropertyTypes` most do unless they say so. */
type Refusing<T> = {
  // biome-ignore lint/complexity/noBannedTypes: `{} extends …` asks whether the member is optional
  [K in keyof T]-?: {} extends Pick<T, K> ? ({ [P in K]: undefined } extends Pick<T, K> ? never : K) : never;
}[keyof T];

type Changed = Exclude<Parameters<Parameters<ClientMiddleware>[1]>[0], undefined>;

describe("options", () => {
  it("take undefined for what is left out", () => {
    expectTypeOf<Refusing<ClientOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<CallOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<ServerOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<ToolDefinition>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<PromptDefinition>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<ResourceDefinition>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<HttpServerOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<ServeHttpOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<ServeSocketOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<ServeWebSocketOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<ServeStdioOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<ServeChannelOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<SocketTransportOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<NodeWebSocketOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<WebSocketTransportOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<HttpTransportOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<StdioOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<CommandTarget>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<ResourceTemplateDefinition>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<SetOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<DeleteOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<LogLimits>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<ChaosOptions>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<HttpTimeouts>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<Answer>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<Outgoing>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<Exclude<Parameters<typeof memoryStorage>[0], undefined>>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<Pick<ServerHandler, "capabilities">>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<Pick<Platform, "spawn">>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<Pick<Endpoint, "revisions" | "storage">>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<Pick<Exchange, "peer" | "http" | "principal" | "batched">>>().toEqualTypeOf<never>();
    expectTypeOf<Refusing<Changed>>().toEqualTypeOf<never>();
  });

  it("keep their defaults when undefined is passed", async () => {
    const server = new Server(info, { limits: { calls: undefined }, pageSize: undefined }).tool("hello", () => "hello");
    const client = await connect(server, { timeouts: { idleMs: undefined, totalMs: undefined }, name: undefined });
    expect(await client.call("hello")).toBe("hello");
    await client.close();
  });
});

describe("an undefined member", () => {
  it("is left out of blocks and results", () => {
    const none = { _meta: undefined, annotations: undefined };
    expect(Object.keys(content.text("x", none))).toEqual(["type", "text"]);
    expect(Object.keys(content.resource("t://x", "x", { ...none, mimeType: undefined }))).toEqual(["type", "resource"]);
    expect(content.link("t://x", { ...none, name: undefined, title: undefined })).toEqual(content.link("t://x"));
  });

  it("of a result, an error, a call or a middleware is as good as none", async () => {
    const server = new Server(info)
      .tool("plain", () =>
        content.result({ content: undefined, structured: { n: 1 }, isError: undefined, _meta: undefined }),
      )
      .tool("fails", () => {
        throw new ToolError("no", { content: undefined, cause: undefined });
      });
    const client = await connect(server);
    client.use((_call, next) => next({ params: undefined, options: undefined }));
    expect(await client.call("plain")).toEqual({ n: 1 });
    const [plain, failed] = await client.callMany([{ name: "plain", args: undefined }, { name: "fails" }]);
    expect(plain).toMatchObject({ status: "fulfilled", value: { structuredContent: { n: 1 } } });
    expect(failed).toMatchObject({ value: { isError: true, content: [{ text: "no" }] } });
    await client.close();
  });

  it("of a storage keeps its default", () => {
    const storage = memoryStorage({ clock: undefined, limits: { maxKeys: undefined }, onDeliverError: undefined });
    const version = storage.kv.set("k", "v", { ttlMs: undefined, ifVersion: undefined });
    expect(version).toBe(1);
    const limits = { maxEntries: 1, maxBytes: 10, maxAgeMs: 1000, ttlMs: undefined };
    expect(storage.log.append("s", "e", limits)).toBeGreaterThan(0);
    expect(storage.kv.delete("k", { ifVersion: undefined })).toBe(true);
  });
});

describe("a server", () => {
  it("may say what `ctx.data` holds, for handlers of every kind and for middleware", async () => {
    const server = new Server<{ tenant: string }>(info)
      .use((call, next) => {
        call.ctx.data.tenant = "acme";
        // @ts-expect-error the data has no such member
        call.ctx.data.tenants = "acme";
        return next();
      })
      .tool("whose", {}, (_args, { data }) => {
        expectTypeOf(data).toEqualTypeOf<{ tenant: string }>();
        return data.tenant;
      })
      .resource("t://whose", {}, (_uri, { data }) => data.tenant)
      .prompt("whose", {}, (_args, { data }) => data.tenant);
    const client = await connect(server);
    expect(await client.call("whose")).toBe("acme");
    await client.close();
  });

  it("offers a tool by its name and handler alone", async () => {
    const server = new Server(info).tool("now", () => "now").add(tool("then", () => "then"));
    const client = await connect(server);
    expectTypeOf(await client.call("now")).toEqualTypeOf<string>();
    expect(await client.call("then")).toBe("then");
    await client.close();
  });

  it("gives its client's type by `ClientOf`, prompts included", async () => {
    const server = new Server(info)
      .prompt("review", { arguments: { code: { required: true }, style: {} } }, ({ code, style = "any" }) => [
        message.user(`${style}: ${code}`),
      ])
      .prompt("translate", { arguments: z.object({ text: z.string(), to: z.enum(["fr", "de"]).optional() }) }, () => "")
      .prompt("filled", {}, promptTemplate("Hello {{name}}"))
      .add(prompt("value", { arguments: { who: { required: true } } }, ({ who }) => who));
    const client: ClientOf<typeof server> = await connect(server);
    const { messages } = await client.getPrompt("review", { code: "x" });
    expect(messages).toMatchObject([{ content: { text: "any: x" } }]);
    await client.getPrompt("translate", { text: "hi" });
    await client.getPrompt("filled", { name: "Ada" });
    await client.getPrompt("value", { who: "Ada" });
    const compiledOnly = async () => {
      // @ts-expect-error there is no such prompt
      await client.getPrompt("revew", { code: "x" });
      // @ts-expect-error an argument is missing
      await client.getPrompt("review", {});
      // @ts-expect-error arguments are needed
      await client.getPrompt("value");
      // @ts-expect-error there is no such argument
      await client.getPrompt("review", { code: "x", stile: "y" });
      const loose = await connect("http://localhost/mcp");
      await loose.getPrompt("anything", { at: "all" });
      const started = await connect({ command: "node" });
      await started.call("anything", { at: 1 });
    };
    expect(compiledOnly).toBeTypeOf("function");
    await client.close();
  });

  it("gives the handles of its tasks the types of its tools", async () => {
    const server = new Server(info, { extensions: [tasks({ pollIntervalMs: 20 })] })
      .tool(
        "sum",
        { task: "optional", input: z.object({ a: z.number() }), output: z.object({ sum: z.number() }) },
        ({ a }) => ({ sum: a + 1 }),
      )
      .tool("text", { task: { support: "required", begin: "handler", retry: 1 } }, () => "x");
    const client = await connect(server, { extensions: [tasks()] });
    const handle = await client.startTask("sum", { a: 1 });
    expectTypeOf(handle.result).returns.resolves.toEqualTypeOf<{ sum: number }>();
    expectTypeOf(handle.status).toEqualTypeOf<"working" | "input_required" | "completed" | "failed" | "cancelled">();
    expect(await handle.result()).toEqual({ sum: 2 });
    expectTypeOf((await client.startTask("text")).result).returns.resolves.toEqualTypeOf<string>();
    // What is found again has no type until it is checked.
    expectTypeOf(client.task(handle.toJSON()).result).returns.resolves.toEqualTypeOf<unknown>();
    // @ts-expect-error: the tool takes a number
    const wrong = () => client.startTask("sum", { a: "1" });
    // @ts-expect-error: there is no such tool
    const unknown = () => client.startTask("summ", {});
    // @ts-expect-error: there is no such support
    const odd = () => server.tool("odd", { task: "always" }, () => "");
    expect([wrong, unknown, odd]).toHaveLength(3);
    await client.close();
  });

  it("takes a context by its type", () => {
    const inTenant = (ctx: HandlerContext<{ tenant: string }>) => ctx.data.tenant;
    const server = new Server<{ tenant: string }>(info).tool("whose", (_args, ctx) => inTenant(ctx));
    expect(server.endpoint()).toBeDefined();
  });
});

// Each expected error stands on the line of the mistake itself, not on the call around it.
describe("the compiler points at", () => {
  it("a misspelt option", () => {
    const compiledOnly = () => {
      void connect("http://localhost/mcp", {
        name: "x",
        // @ts-expect-error it is `timeouts`
        timeout: { idleMs: 1 },
      });
      void connect(new Server(info), {
        timeouts: {
          // @ts-expect-error it is `idleMs`
          idle: 1,
        },
      });
      new Server(info, {
        // @ts-expect-error it is `pageSize`
        pagesize: 3,
      });
      new Server(info).tool(
        "t",
        {
          // @ts-expect-error it is `description`
          descripton: "x",
        },
        () => "",
      );
    };
    expect(compiledOnly).toBeTypeOf("function");
  });

  it("the wrong member of a result", () => {
    const output = z.object({ n: z.number(), kind: z.enum(["a", "b"]) });
    new Server(info).tool("t", { output }, () => ({
      kind: "a",
      // @ts-expect-error a number was promised
      n: "1",
    }));
    expect(output).toBeDefined();
  });
});
