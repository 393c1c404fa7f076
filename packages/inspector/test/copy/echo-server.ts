import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";

/** What the header `Authorization` must be. */
export const AUTHORIZATION = "Bearer s3cr3t-t0k3n with 'quotes' and $(dollars)";

/** A server that keeps what it was asked, over HTTP and only for those who know the secret. */
export interface EchoServer {
  readonly url: string;
  /** The same server by the transport of 2024-11-05. */
  readonly sseUrl: string;
  /** What tools, prompts and resources were asked with, oldest first. */
  readonly asked: unknown[];
  /** The headers of the last POST that was let in. */
  lastHeaders(): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts a server on a free port of this machine. */
export async function startEchoServer(): Promise<EchoServer> {
  const asked: unknown[] = [];
  let last: Record<string, string> = {};
  const handle = await serveHttp(echoServer(asked), {
    port: 0,
    legacySse: {},
    authenticate: (request) => {
      if (request.header("authorization") !== AUTHORIZATION) return undefined;
      if (request.method === "POST") last = request.headers();
      return { key: "user" };
    },
  });
  const sseUrl = new URL("/sse", handle.url).href;
  return { url: handle.url, sseUrl, asked, lastHeaders: () => last, close: () => handle.close() };
}

/** Tools, a resource template and a prompt that keep what they are asked with. */
export function echoServer(asked: unknown[]): Server {
  return new Server({ name: "echo", version: "1.0.0" })
    .tool(
      "echo",
      { description: "Keeps its arguments", input: { type: "object", additionalProperties: true } },
      (args) => {
        asked.push(args);
        return "kept";
      },
    )
    .tool('it\'s $(one) "tool"', { description: "Has a hostile name" }, () => {
      asked.push("hostile name");
      return "kept";
    })
    .resourceTemplate("note://{id}", { name: "note" }, ({ id }) => {
      asked.push(id);
      return `note ${id}`;
    })
    .prompt("greet", { arguments: { name: { complete: ["Ada", "Alan"] } } }, ({ name }) => {
      asked.push(name);
      return `Hello ${name}`;
    });
}
