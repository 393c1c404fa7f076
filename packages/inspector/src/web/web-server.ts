import type { RequestListener, Server } from "node:http";
import { McpError } from "@parley/mcp";
import { sandboxPage } from "@parley/mcp/apps";
import type { InspectorEngine } from "../engine/inspector-engine.js";
import { Credentials } from "./credentials.js";
import { closeServer, type ListenLimits, listenOnLoopback, portOf } from "./listen.js";
import { pageFiles } from "./page-files.js";
import { RequestAnswers } from "./request-answers.js";
import { isOwnHost, pathOf } from "./request-rules.js";

/** Options of `openWebServer`. */
interface WebServerOptions {
  readonly port: number;
  /** The folder of the built page. */
  readonly pageFolder: string;
  /** Called whenever a page opens a stream of events. */
  readonly onStreamOpened?: (() => void) | undefined;
  readonly limits?: Partial<ListenLimits> | undefined;
}

/** A running web server. */
export interface WebServer {
  /** The address of the page, with the token. */
  readonly url: string;
  /** Stops serving and ends the event streams. */
  close(): Promise<void>;
}

/**
 * Serves an engine and its page to browsers on this machine. Rejects with an `McpError` if the port is taken or the
 * page is missing.
 */
export async function openWebServer(engine: InspectorEngine, options: WebServerOptions): Promise<WebServer> {
  const page = pageFiles(options.pageFolder);
  const sandbox = await openSandboxListener();
  let answers: RequestAnswers | undefined;
  const server = await listen(options, (request, response) => {
    // The connection was lost, or a file could not be completed. In both cases the response cannot be finished.
    answers?.answer(request, response).catch(() => response.destroy());
  }).catch(async (reason: unknown) => {
    await sandbox.close();
    throw reason;
  });
  const port = portOf(server);
  const credentials = new Credentials(port);
  sandbox.allowHosts([`http://127.0.0.1:${port}`, `http://localhost:${port}`]);
  engine.setSandbox(sandbox.url);
  const { onStreamOpened } = options;
  const headers = securityHeaders(sandbox.origin);
  const serving = new RequestAnswers({ engine, page, credentials, port, headers, onStreamOpened });
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
    throw new McpError("misuse", `cannot listen on port ${port} (${String(cause)})`, {
      fix: "Choose another port, or 0 for a free one.",
      cause,
    });
  }
}

/**
 * Features that an app in the sandbox may request. The page must have these features itself to delegate them to the
 * frame.
 */
const APP_FEATURES = ["camera", "microphone", "geolocation", "clipboard-write"];

const DENIED_FEATURES = [
  "accelerometer",
  "autoplay",
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
  "xr-spatial-tracking",
];

/**
 * Returns the headers of every response. They allow only the page's own scripts and styles, and forbid framing the
 * page.
 */
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
    ...APP_FEATURES.map((name) => `${name}=(self "${sandboxOrigin}")`),
    ...DENIED_FEATURES.map((name) => `${name}=()`),
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

/** The listener for apps. It serves only the sandbox page, from an origin of its own. */
interface SandboxListener {
  readonly origin: string;
  /** The address for `showApp`. */
  readonly url: string;
  /** Sets the origins that may frame the sandbox. Until then, every request gets a 404. */
  allowHosts(hosts: readonly string[]): void;
  close(): Promise<void>;
}

const PATH = "/sandbox";
/**
 * Maximum number of ports to try until one is free in both address families. After that, the inspector does not start.
 */
const MAX_TRIES = 8;

/**
 * Listens for requests of the sandbox. The address of the sandbox uses `localhost`, and the address of the inspector's
 * page uses `127.0.0.1`. Browsers treat these as two sites, so apps get their own process and receive no cookies of the
 * page.
 */
async function openSandboxListener(): Promise<SandboxListener> {
  let page: ReturnType<typeof sandboxPage> | undefined;
  const answer: RequestListener = (request, response) => {
    const { method, url = "", headers } = request;
    if (page === undefined || !isOwnHost(headers.host, port) || method !== "GET" || pathOf(url) !== PATH) {
      response.writeHead(404, { "content-length": 0, "cache-control": "no-store" }).end();
      return;
    }
    // The page is framed from another origin, which some policies forbid without this header.
    response.writeHead(200, { ...page.headers, "cross-origin-resource-policy": "cross-origin" }).end(page.html);
  };
  const servers = await listenOnBoth(answer);
  const port = portOf(servers[0]);
  const origin = `http://localhost:${port}`;
  return {
    origin,
    url: `${origin}${PATH}`,
    allowHosts: (hosts) => {
      page = sandboxPage({ hosts, allowLoopback: true });
    },
    close: async () => {
      await Promise.all(servers.map(closeServer));
    },
  };
}

/**
 * Listens on the same port for IPv4 and IPv6. `localhost` may resolve to either, and another program must not answer in
 * place of the sandbox.
 */
async function listenOnBoth(answer: RequestListener): Promise<[Server, ...Server[]]> {
  for (let tries = 1; ; tries++) {
    const first = await listenOnLoopback(0, answer);
    try {
      return [first, await listenOnLoopback(portOf(first), answer, { host: "::1" })];
    } catch (reason) {
      const taken = reason instanceof Error && "code" in reason && reason.code === "EADDRINUSE";
      // If this machine has no IPv6, no other program can listen there, so IPv4 is enough.
      if (!taken) return [first];
      await closeServer(first);
      if (tries === MAX_TRIES) throw reason;
    }
  }
}
