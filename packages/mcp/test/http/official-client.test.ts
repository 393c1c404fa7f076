import { afterEach, describe, expect, it } from "vitest";
import { serveHttp } from "../../src/node/http/serve-http.js";
import { Server } from "../../src/server/server.js";
import type { ListeningHandle } from "../../src/transport/serve-handle.js";
import { loadPeer, peersInstalled } from "../mounts/peer-packages.js";
import { gate } from "./watched.js";

/** The part of the official SDK's clients, of either major version, that these tests use. */
interface OfficialClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: object, ...rest: unknown[]): Promise<{ content: { text?: string }[] }>;
  setRequestHandler(schema: unknown, handler: (request: { params: Record<string, unknown> }) => unknown): void;
  close(): Promise<void>;
}
type ClientClass = new (info: object, options?: object) => OfficialClient;
type TransportClass = new (url: URL, options?: object) => object;

interface Flavour {
  name: string;
  connect(url: string): Promise<OfficialClient>;
  /** Passes `onprogress` the way this version wants it. */
  withProgress(client: OfficialClient, params: object, onprogress: () => void): ReturnType<OfficialClient["callTool"]>;
}

const INFO = { name: "official", version: "1" };
const CAPABILITIES = { capabilities: { elicitation: {}, sampling: {}, roots: {} } };
const ACCEPTED = { action: "accept", content: { name: "Ada" } };
const SAMPLED = { role: "assistant", model: "m", content: { type: "text", text: "sampled" } };

interface V1Types {
  ElicitRequestSchema: unknown;
  CreateMessageRequestSchema: unknown;
}

function v1(name: string, module: string, transportName: string, path = "/mcp"): Flavour {
  return {
    name,
    async connect(url) {
      const { Client } = await loadPeer<{ Client: ClientClass }>("@modelcontextprotocol/sdk/client/index.js");
      const types = await loadPeer<V1Types>("@modelcontextprotocol/sdk/types.js");
      const transports = await loadPeer<Record<string, TransportClass>>(
        `@modelcontextprotocol/sdk/client/${module}.js`,
      );
      const client = new Client(INFO, CAPABILITIES);
      client.setRequestHandler(types.ElicitRequestSchema, () => ACCEPTED);
      client.setRequestHandler(types.CreateMessageRequestSchema, () => SAMPLED);
      const Transport = transports[transportName] ?? missing(transportName);
      await client.connect(new Transport(new URL(path, url)));
      return client;
    },
    withProgress: (client, params, onprogress) => client.callTool(params, undefined, { onprogress }),
  };
}

function v2(name: string, mode: "legacy" | "auto"): Flavour {
  return {
    name,
    async connect(url) {
      const sdk = await loadPeer<{ Client: ClientClass; StreamableHTTPClientTransport: TransportClass }>(
        "@modelcontextprotocol/client",
      );
      const client = new sdk.Client(INFO, { ...CAPABILITIES, versionNegotiation: { mode } });
      client.setRequestHandler("elicitation/create", () => ACCEPTED);
      client.setRequestHandler("sampling/createMessage", () => SAMPLED);
      await client.connect(new sdk.StreamableHTTPClientTransport(new URL(url)));
      return client;
    },
    withProgress: (client, params, onprogress) => client.callTool(params, { onprogress }),
  };
}

function missing(name: string): never {
  throw new Error(`the official SDK has no ${name}`);
}

const FLAVOURS: Flavour[] = [
  v1("version 1 over Streamable HTTP", "streamableHttp", "StreamableHTTPClientTransport"),
  v1("version 1 over HTTP+SSE", "sse", "SSEClientTransport", "/sse"),
  v2("version 2 with a handshake", "legacy"),
  v2("version 2 without one", "auto"),
];

/** Opens when the client under test has heard all progress. */
let heardAll = gate();

const server = () =>
  new Server({ name: "t", version: "1" })
    .tool("hello", {}, () => "hello")
    .tool("steps", {}, async (_args, ctx) => {
      for (let step = 1; step <= 3; step++) ctx.progress(step);
      // Over HTTP+SSE version 1 forgets about progress when the answer comes in the same chunk.
      await heardAll.passed;
      return "done";
    })
    .tool("ask", {}, async (_args, ctx) => {
      const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
      return `hello ${JSON.stringify(await ctx.elicit("Name?", schema))}`;
    })
    .tool("sample", {}, async (_args, ctx) => {
      const messages = [{ role: "user" as const, content: { type: "text" as const, text: "hi" } }];
      return JSON.stringify((await ctx.sample({ messages, maxTokens: 10 })).content);
    })
    .tool("pauses", {}, async (_args, ctx) => {
      ctx.progress(1);
      const paused = ctx.http?.pause(20) === true;
      await new Promise((resolve) => setTimeout(resolve, 40));
      ctx.progress(2);
      return paused ? "came back" : "stayed";
    });

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function connected(flavour: Flavour): Promise<OfficialClient> {
  const handle: ListeningHandle = await serveHttp(server(), { port: 0, legacySse: {} });
  open.push(() => handle.close());
  const client = await flavour.connect(handle.url);
  open.push(() => client.close());
  return client;
}

const text = (result: { content: { text?: string }[] }) => result.content[0]?.text;

const flavours = peersInstalled ? FLAVOURS : [];
if (!peersInstalled) console.log("official client: not installed (npm run peers); nothing was tested against it");

describe("the official SDK's client", () => {
  it.each(flavours)("$name lists, calls, and hears progress", async (flavour) => {
    const client = await connected(flavour);
    expect((await client.listTools()).tools).toHaveLength(5);
    expect(text(await client.callTool({ name: "hello", arguments: {} }))).toBe("hello");
    let heard = 0;
    heardAll = gate();
    const result = await flavour.withProgress(client, { name: "steps", arguments: {} }, () => {
      if (++heard === 3) heardAll.open();
    });
    expect(text(result)).toBe("done");
    expect(heard).toBe(3);
  });

  it.each(flavours)("$name answers questions", async (flavour) => {
    const client = await connected(flavour);
    expect(text(await client.callTool({ name: "ask", arguments: {} }))).toBe('hello {"name":"Ada"}');
    expect(text(await client.callTool({ name: "sample", arguments: {} }))).toContain("sampled");
  });

  it.each(flavours)("$name comes back to a stream that the server closed on the way", async (flavour) => {
    const client = await connected(flavour);
    const result = await flavour.withProgress(client, { name: "pauses", arguments: {} }, () => {});
    expect(text(result)).toMatch(/came back|stayed/);
  });
});
