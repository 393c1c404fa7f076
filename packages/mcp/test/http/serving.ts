import { afterEach } from "vitest";
import { serveHttp } from "../../src/node/http/serve-http.js";
import { fetchHandler } from "../../src/transport/http/fetch-handler.js";
import type { HttpServerOptions } from "../../src/transport/http/server/options.js";
import type { Servable } from "../../src/transport/serve-handle.js";

/** Something that answers requests at a URL. */
export interface Served {
  url: string;
  fetch(request: Request): Promise<Response>;
  close(): Promise<void> | void;
  drain(graceMs?: number): Promise<void>;
}

const open: Served[] = [];

afterEach(async () => {
  for (const served of open.splice(0)) await served.close();
});

/** Both ways in, over a real socket and by function call; what a test starts is closed after it. */
export const ADAPTERS: [string, (servable: Servable, options?: HttpServerOptions) => Promise<Served>][] = [
  [
    "the Node adapter",
    async (servable, options = {}) => {
      const handle = await serveHttp(servable, { port: 0, ...options });
      return keep({ url: handle.url, fetch: (request) => fetch(request), close: handle.close, drain: handle.drain });
    },
  ],
  [
    "fetchHandler",
    async (servable, options = {}) => {
      const handler = fetchHandler(servable, options);
      const url = "http://localhost:3000/mcp";
      return keep({ url, fetch: (request) => handler(request), close: handler.close, drain: handler.drain });
    },
  ],
];

function keep(served: Served): Served {
  open.push(served);
  return served;
}
