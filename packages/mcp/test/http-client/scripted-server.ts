import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request as it arrived. */
export interface Arrived {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
  /** The body parsed, or undefined. */
  message: { id?: string | number; method?: string; params?: unknown; result?: unknown } | undefined;
  at: number;
}

export type Script = (request: Arrived, response: ServerResponse) => void | Promise<void>;

/** A real HTTP server on loopback that does what its script says, however wrong that is. */
export interface ScriptedServer {
  url: string;
  origin: string;
  requests: Arrived[];
  server: Server;
  /** Waits until `count` requests (that `filter` admits) have arrived. */
  arrived(count: number, filter?: (request: Arrived) => boolean): Promise<void>;
  close(): Promise<void>;
}

export async function scriptedServer(script: Script): Promise<ScriptedServer> {
  const requests: Arrived[] = [];
  const waiters = new Set<() => void>();
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    response.on("error", () => {});
    incoming.on("data", (chunk: Buffer) => parts.push(chunk));
    incoming.on("end", () => {
      const body = Buffer.concat(parts).toString();
      const { method = "", url = "", headers } = incoming;
      const request: Arrived = { method, url, headers, body, message: parsed(body), at: Date.now() };
      requests.push(request);
      for (const check of waiters) check();
      void script(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/mcp`,
    requests,
    server,
    arrived(count, filter = () => true) {
      return new Promise((resolve) => {
        const check = () => {
          if (requests.filter(filter).length < count) return;
          waiters.delete(check);
          resolve();
        };
        waiters.add(check);
        check();
      });
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function parsed(body: string): Arrived["message"] {
  try {
    return JSON.parse(body) as Arrived["message"];
  } catch {
    return undefined;
  }
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(value);
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text);
}

/** The result message for a request. */
export function result(request: Arrived, value: unknown = { ok: true }): unknown {
  return { jsonrpc: "2.0", id: request.message?.id, result: value };
}

/** Begins an event stream. */
export function stream(response: ServerResponse, headers: Record<string, string> = {}): void {
  response.writeHead(200, { "content-type": "text/event-stream", ...headers });
  response.flushHeaders();
}

/** One event as text. */
export function event(value: unknown, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`;
}
