import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A JSON object that a client posted. */
export type PostedJson = Readonly<Record<string, unknown>>;

/** A server of raw HTTP on this machine. */
export interface PostedJsonServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Answers every object that is posted, so that a test can send what no library would; other requests get 405. */
export async function servePostedJson(
  answer: (message: PostedJson, request: IncomingMessage, response: ServerResponse) => void,
): Promise<PostedJsonServer> {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    let body = "";
    for await (const chunk of request) body += String(chunk);
    // The clients of tests send objects.
    answer(JSON.parse(body) as PostedJson, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    // It listens on a port, so the address is no path.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
