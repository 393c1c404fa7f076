import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Client,
  type ClientOptions,
  connect,
  type HandlerContext,
  type Revision,
  Server,
  type ServerOptions,
} from "@parley/mcp";
import { type ServeHttpOptions, serveHttp } from "@parley/mcp/node";
import { channelPair } from "@parley/mcp/testing";
import { channelTransport } from "@parley/mcp/transport";
import { z } from "zod";

/** Closes what a provocation opened. */
export type Cleanup = (close: () => unknown) => void;

export const STATEFUL: Revision = "2025-11-25";
export const STATELESS: Revision = "2026-07-28";
export const Yes = z.object({ yes: z.boolean() });

export const named = (options?: ServerOptions) => new Server({ name: "shop", version: "1" }, options);
export const never = () => new Promise<string>(() => {});

export async function linked(server: Server, cleanup: Cleanup, options?: ClientOptions): Promise<Client> {
  const client: Client = await connect(server, options);
  cleanup(() => client.close());
  return client;
}

/** What `call` rejects with, or throws at once. */
export async function rejection(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** What a handler of a tool catches when it asks. */
export async function caught(ask: Parameters<typeof askingTool>[0], cleanup: Cleanup, client: ClientOptions) {
  let error: unknown;
  const server = askingTool(async (ctx) => {
    error = await rejection(() => ask(ctx));
    return "";
  });
  await (await linked(server, cleanup, { revisions: [STATEFUL], ...client })).callTool("ask");
  return error;
}

export function askingTool(ask: (ctx: HandlerContext) => unknown, options?: ServerOptions): Server {
  return named(options).tool("ask", {}, async (_args, ctx) => {
    await ask(ctx);
    return "done";
  }) as Server;
}

/** A server over HTTP whose every answer is `status` and `body`. */
export async function answering(cleanup: Cleanup, status: number, headers: Record<string, string>, body: string) {
  const http = createServer((_request, response) => response.writeHead(status, headers).end(body));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  cleanup(() => http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}

export async function served(server: Server, cleanup: Cleanup, options: ServeHttpOptions = {}): Promise<string> {
  const handle = await serveHttp(server, { port: 0, ...options });
  cleanup(() => handle.close());
  return handle.url;
}

/** A client of a server that answers by hand: what it gives becomes the answer, nothing becomes silence. */
export async function withForeignServer(
  answer: (method: string, id: unknown) => string,
  cleanup: Cleanup,
): Promise<Client> {
  const [here, there] = channelPair();
  there.open({
    message(text) {
      const { method, id } = JSON.parse(text) as { method: string; id?: unknown };
      if (method === "initialize") {
        const result = {
          protocolVersion: STATEFUL,
          capabilities: { tools: {} },
          serverInfo: { name: "x", version: "1" },
        };
        there.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
      } else if (id !== undefined) there.send(answer(method, id));
    },
    fault() {},
    closed() {},
  });
  const client = await connect(channelTransport(here, "a foreign server"), { revisions: [STATEFUL] });
  cleanup(() => client.close());
  return client;
}
