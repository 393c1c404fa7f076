import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Writable } from "node:stream";
import { createGzip } from "node:zlib";

const PIECE = "x".repeat(1024 * 1024);

/** The answers that go on and on, by their path. */
export const ENDLESS = ["line", "comments", "json", "gzip"] as const;

export interface EndlessServer {
  readonly origin: string;
  close(): void;
}

/** A server whose every answer has `bytes` bytes, in the way that the path says; `/small` is an answer as it should be. */
export async function endlessServer(bytes: number): Promise<EndlessServer> {
  const server = createServer((request, response) => {
    response.on("error", () => {});
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => answer(request.url ?? "", body, response, bytes));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(path: string, body: string, response: ServerResponse, bytes: number): void {
  const events = () => response.writeHead(200, { "content-type": "text/event-stream" });
  switch (path) {
    case "/line":
      events().write("data: ");
      void pour(response, PIECE, bytes);
      return;
    case "/comments":
      void pour(events(), `: ${PIECE}\n\n`, bytes);
      return;
    case "/json":
      response.writeHead(200, { "content-type": "application/json" }).write('{"jsonrpc":"2.0","x":"');
      void pour(response, PIECE, bytes);
      return;
    case "/gzip": {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      const gzip = createGzip();
      gzip.on("error", () => {});
      gzip.pipe(response);
      response.on("close", () => gzip.destroy());
      void pour(gzip, PIECE, bytes);
      return;
    }
    default: {
      const id = JSON.stringify((JSON.parse(body) as { id: unknown }).id);
      const result = '{"resultType":"complete","content":[]}';
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
    }
  }
}

/** Writes as fast as the other end reads, then `last`, and resolves; without `last` it ends the stream. */
export function pour(out: Writable, piece: string, bytes: number, last?: string): Promise<void> {
  let left = bytes;
  return new Promise((resolve) => {
    out.once("close", resolve);
    const more = () => {
      while (left > 0 && !out.destroyed) {
        left -= piece.length;
        if (!out.write(piece)) return void out.once("drain", more);
      }
      if (!out.destroyed && last === undefined) out.end();
      else if (!out.destroyed) out.write(last);
      resolve();
    };
    more();
  });
}
