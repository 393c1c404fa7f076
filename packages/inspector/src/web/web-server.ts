import type { RequestListener, Server } from "node:http";
import { McpError } from "@parley/mcp";
import { sandboxPage } from "@parley/mcp/apps";
import type { InspectorEngine } from "../engine/inspector-engine.js";
import { Credentials } from "./credentials.js";
import { closeServer, type ListenLimits, listenOnLoopback, portOf } from "./listen.js";
import { pageFiles } from "./page-files.js";
import { RequestAnswers } from "./request-answers.js";
import { isOwnHost, pathOf } from "./request-rules.js";

/** What a web server is started with. */
interface WebServerOptions {
  readonly port: number;
  /** The folder with the built page. */
  readonly pageFolder: string;
  /** Called whenever a page has begun to follow the events. */
  readonly onFollowed?: (() => void) | undefined;
  readonly limits?: Partial<ListenLimits> | undefined;
}

/** A web server that listens. */
export interface WebServer {
  /** The address of the page, with the token. */
  readonly url: string;
  /** Stops to serve; streams of events end. */
  close(): Promise<void>;
}

/** Serves an engine and its page to browsers of this machine. Rejects with an `McpError` if the port is taken or there is no page. */
export async function openWebServer(engine: InspectorEngine, options: WebServerOptions): Promise<WebServer> {
  const page = pageFiles(options.pageFolder);
  const sandbox = await openSandboxListener();
  let answers: RequestAnswers | undefined;
  const server = await listen(options, (request, response) => {
    // A connection that is lost in the middle of a request has nobody left to be told.
    answers?.answer(request, response).catch(() => response.destroy());
  }).catch(async (reason: unknown) => {
    await sandbox.close();
    throw reason;
  });
  const port = portOf(server);
  const credentials = new Credentials(port);
  sandbox.serveFor([`http://127.0.0.1:${port}`, `http://localhost:${port}`]);
  engine.sandboxIs(sandbox.url);
  const { onFollowed } = options;
  const headers = securityHeaders(sandbox.origin);
  const serving = new RequestAnswers({ engine, page, credentials, port, headers, onFollowed });
  answers = serving;
  return {
    url: `http://127.0.0.1:${port}/?token=${credentials.token}`,
    close: async () => {
      serving.endStreams();
      await Promise.all([closeServer(server), sandbox.close()]);
    },
  };
}

async function listen(
  { port, limits }: WebServerOptions,
  answer: Parameters<typeof listenOnLoopback>[1],
): Promise<Server> {
  try {
    return await listenOnLoopback(port, answer, { limits });
  } catch (cause) {
    throw new McpError("misuse", `port ${port} cannot be listened on (${String(cause)})`, {
      fix: "Choose another port, or 0 for a free one.",
      cause,
    });
  }
}

/** What an app in the sandbox may ask the user for; the page's own frame must be allowed it to pass it on. */
const FOR_APPS = ["camera", "microphone", "geolocation", "clipboard-write"];

const FOR_NOBODY = [
  "accelerometer",
  "autoplay",
  "bluetooth",
  "browsing-topics",
  "display-capture",
  "encrypted-media",
  "fullscreen",
  "gyroscope",
  "hid",
  "idle-detection",
  "magnetometer",
  "midi",
  "payment",
  "picture-in-picture",
  "publickey-credentials-get",
  "screen-wake-lock",
  "serial",
  "usb",
  "web-share",
  "xr-spatial-tracking",
];

/** Headers of every answer. A page of ours runs no script but its own, shows no resource but its own, and is framed by nobody. */
function securityHeaders(sandboxOrigin: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src data: blob:",
    "media-src data: blob:",
    "connect-src 'self'",
    `frame-src ${sandboxOrigin}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  const permissions = [
    ...FOR_APPS.map((name) => `${name}=(self "${sandboxOrigin}")`),
    ...FOR_NOBODY.map((name) => `${name}=()`),
  ];
  return {
    "content-security-policy": policy.join("; "),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": permissions.join(", "),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
  };
}

/** Where apps run: an origin that has nothing but the page of the sandbox. */
interface SandboxListener {
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
async function openSandboxListener(): Promise<SandboxListener> {
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
