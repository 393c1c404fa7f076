import type { RequestListener, Server } from "node:http";
import { sandboxPage } from "@parley/mcp/apps";
import { closeServer, listenOnLoopback, portOf } from "./listen.js";
import { isOwnHost, pathOf } from "./request-rules.js";

/** Where apps run: an origin that has nothing but the page of the sandbox. */
export interface SandboxListener {
  readonly origin: string;
  /** The address for `showApp`. */
  readonly url: string;
  /** Tells which origins may frame it; before, it answers nobody. */
  serveFor(hosts: readonly string[]): void;
  close(): Promise<void>;
}

const PATH = "/sandbox";
/** Ports that are tried until one is free in both address families. */
const MOST_TRIES = 8;

/**
 * Listens for the sandbox. Its address has the name `localhost`, while the page's has a number: browsers take them for two sites,
 * so that apps get a process of their own and are sent no cookie of the page.
 */
export async function openSandboxListener(): Promise<SandboxListener> {
  let page: ReturnType<typeof sandboxPage> | undefined;
  const answer: RequestListener = (request, response) => {
    const { method, url = "", headers } = request;
    if (page === undefined || !isOwnHost(headers.host, port) || method !== "GET" || pathOf(url) !== PATH) {
      response.writeHead(404, { "content-length": 0, "cache-control": "no-store" }).end();
      return;
    }
    // The page is framed from another origin, which this header would forbid by default under some policies.
    response.writeHead(200, { ...page.headers, "cross-origin-resource-policy": "cross-origin" }).end(page.html);
  };
  const servers = await listenOnBoth(answer);
  const port = portOf(servers[0]);
  const origin = `http://localhost:${port}`;
  return {
    origin,
    url: `${origin}${PATH}`,
    serveFor: (hosts) => {
      page = sandboxPage({ hosts, allowLoopback: true });
    },
    close: async () => {
      await Promise.all(servers.map(closeServer));
    },
  };
}

/** The same port in both families: `localhost` may mean either, and nobody else shall listen where a browser may look first. */
async function listenOnBoth(answer: RequestListener): Promise<[Server, ...Server[]]> {
  for (let tries = 1; ; tries++) {
    const first = await listenOnLoopback(0, answer);
    try {
      return [first, await listenOnLoopback(portOf(first), answer, { host: "::1" })];
    } catch (reason) {
      const taken = reason instanceof Error && "code" in reason && reason.code === "EADDRINUSE";
      // A machine without IPv6 has nobody there either.
      if (!taken) return [first];
      await closeServer(first);
      if (tries === MOST_TRIES) throw reason;
    }
  }
}
