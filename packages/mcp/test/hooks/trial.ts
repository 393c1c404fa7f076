import { type Client, type ClientOptions, connect, McpError, Server, type ServerOptions } from "@parley/mcp";
import { type ServeHttpOptions, serveHttp } from "@parley/mcp/node";
import type { Servable } from "@parley/mcp/transport";

/** A function of the application that fails, in one of the two ways there are. It fits wherever a function is asked for. */
export type Failing = (...args: unknown[]) => never;

/** Uses the library with a function that fails, and says how that ended for whoever depends on it: `fine`, or an error. */
export type Trial = (fail: Failing) => Promise<string>;

const INFO = { name: "trial", version: "1.0.0" };

/** A server with one of everything. */
export function plainServer(options: ServerOptions = {}) {
  return new Server(INFO, options)
    .tool("add", {}, async (_args, ctx) => {
      ctx.log("error", "adding");
      await ctx.progress(1);
      return "3";
    })
    .resource("r://a", {}, () => "text")
    .prompt("p", {}, () => "text");
}

export const emptyServer = (options: ServerOptions = {}) => new Server(INFO, options);

/** What a call came to. */
export async function outcome(work: () => unknown): Promise<string> {
  try {
    const value = await work();
    const isError = typeof value === "object" && value !== null && "isError" in value && value.isError === true;
    return isError ? "tool error" : "fine";
  } catch (error) {
    return McpError.is(error) ? `error ${error.kind}` : `bare ${String(error)}`;
  }
}

/** Connects, works and closes. */
export async function withClient(
  target: Parameters<typeof connect>[0],
  options: ClientOptions,
  work: (client: Client) => unknown,
): Promise<string> {
  return outcome(async () => {
    const client = await connect(target, options);
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  });
}

/** Serves over HTTP on a free port while `work` runs. */
export async function overHttp(
  options: ServeHttpOptions,
  work: (url: string) => Promise<string>,
  server: Servable = plainServer(),
): Promise<string> {
  const handle = await serveHttp(server, { port: 0, ...options });
  try {
    return await work(handle.url);
  } finally {
    await handle.close();
  }
}

export const add = (client: Client) => client.callTool("add", {});
