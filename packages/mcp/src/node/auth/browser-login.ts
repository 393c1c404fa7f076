import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Login, LoginAttempt } from "../../auth/client/login.js";
import { hookResult } from "../../auth/discovery/steps.js";
import { isWebAddress } from "../../encoding/web-address.js";
import { onAbort } from "../../platform/on-abort.js";
import { McpError } from "../../protocol/error.js";
import { builtin } from "../builtin.js";

/** Options for `browserLogin`. */
export interface BrowserLoginOptions {
  /**
   * Shows the login address to the user or opens it, for example with `openInBrowser`. The library never opens a
   * browser itself.
   */
  open(url: string): void | Promise<void>;
  /** Loopback port of the redirect address. 0 picks a free port. Default: 0. */
  port?: number | undefined;
  /** Path of the redirect address. Default: `/callback`. */
  path?: string | undefined;
  /** Time that the user has to log in, in milliseconds. Default: 5 minutes. */
  timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 300_000;

/**
 * Logs in with the user's browser, which is redirected to a listener on this machine. The listener runs only during the
 * login and accepts only the redirect of this login.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/logging-in.md | Logging in}
 */
export function browserLogin(options: BrowserLoginOptions): Login {
  const { open, port = 0, path = "/callback", timeoutMs = TIMEOUT_MS } = options;
  return {
    kind: "redirect",
    applicationType: "native",
    begin: async (signal) => {
      const listener = await CallbackListener.open(port, path);
      return attemptWith(
        listener,
        async (url) => {
          await hookResult("open", () => open(url));
          return undefined;
        },
        timeoutMs,
        signal,
      );
    },
  };
}

/**
 * Creates a login attempt that waits for the redirect. `showOrAsk` shows the address and may obtain the parameters in
 * another way. Its signal aborts when the login ends.
 */
export function attemptWith(
  listener: CallbackListener,
  showOrAsk: (url: string, ended: AbortSignal) => Promise<URLSearchParams | undefined>,
  timeoutMs: number,
  signal: AbortSignal,
): LoginAttempt {
  return {
    redirectUri: listener.redirectUri,
    close: () => listener.close(),
    async visit(url, state = url.searchParams.get("state") ?? "") {
      signal.throwIfAborted();
      const ended = new AbortController();
      const unwatch = onAbort(signal, () => ended.abort(signal.reason));
      // This timer keeps the process alive during the login, because the listener does not.
      const timer = setTimeout(() => ended.abort(loginTimeout(timeoutMs)), timeoutMs);
      try {
        return await new Promise((resolve, reject) => {
          onAbort(ended.signal, () => reject(ended.signal.reason));
          listener.wait(state).then(resolve);
          showOrAsk(url.href, ended.signal).then((parameters) => {
            if (parameters !== undefined) resolve(parameters);
          }, reject);
        });
      } finally {
        clearTimeout(timer);
        unwatch();
        ended.abort();
      }
    },
  };
}

function loginTimeout(timeoutMs: number): McpError {
  return new McpError("authorization_failed", `the user did not log in within ${timeoutMs / 1_000} s`, {
    fix: "Log in again, or raise `timeoutMs`.",
  });
}

/**
 * Headers of the page at the end of a login. The page is static, has no scripts and contains no data from the request.
 */
const CALLBACK_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  connection: "close",
} as const;

const CALLBACK_PAGE =
  "<!doctype html><meta charset=utf-8><title>Login</title><p>You can close this page and go back to the program.</p>\n";

/** Waits on this machine for the redirect that ends a login. */
export class CallbackListener {
  readonly redirectUri: string;
  readonly port: number;
  readonly #server: Server;
  readonly #path: string;
  #expected: { state: string; resolve: (parameters: URLSearchParams) => void } | undefined;

  private constructor(server: Server, path: string) {
    this.#server = server;
    this.#path = path;
    // An open TCP server has an address of this type.
    this.port = (server.address() as AddressInfo).port;
    this.redirectUri = `http://127.0.0.1:${this.port}${path}`;
    server.on("request", (request: IncomingMessage, response) => {
      const parameters = this.#accept(request);
      const expected = this.#expected;
      if (parameters === undefined || expected === undefined) {
        response.writeHead(404, { connection: "close" }).end();
        return;
      }
      // One redirect ends a login. A second one with the same state is a copy.
      this.#expected = undefined;
      response.writeHead(200, CALLBACK_HEADERS).end(CALLBACK_PAGE);
      expected.resolve(parameters);
    });
  }

  /** Listens on loopback. Port 0 picks a free port. */
  static open(port: number, path: string): Promise<CallbackListener> {
    const server = builtin("node:http").createServer();
    // The listener alone must not keep the process alive. During a login, the timer of the attempt does.
    server.unref();
    return new Promise((resolve, reject) => {
      server.once("error", (error) => reject(busy(port, error)));
      server.listen(port, "127.0.0.1", () => resolve(new CallbackListener(server, path)));
    });
  }

  /**
   * Resolves with the parameters of the redirect that has this `state`. Redirects with another state are ignored,
   * because any page can redirect the browser here.
   */
  wait(state: string): Promise<URLSearchParams> {
    return new Promise((resolve) => {
      this.#expected = { state, resolve };
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #accept(request: IncomingMessage): URLSearchParams | undefined {
    const { host = "", origin } = request.headers;
    const isOurs = host === `127.0.0.1:${this.port}` || host === `localhost:${this.port}`;
    if (request.method !== "GET" || !isOurs || origin !== undefined) return undefined;
    const target = request.url ?? "";
    // Any page can redirect the browser here, even with an invalid URL.
    if (!URL.canParse(target, this.redirectUri)) return undefined;
    const url = new URL(target, this.redirectUri);
    if (url.pathname !== this.#path || url.searchParams.get("state") !== this.#expected?.state) return undefined;
    return url.searchParams;
  }
}

function busy(port: number, cause: Error): McpError {
  return new McpError("connect_failed", `cannot wait for the login on port ${port}: ${cause.message}`, {
    fix: "Use another `port` that the client is registered with, or 0 for a free one.",
    cause,
  });
}

/** For each operating system, the program that opens an address, and its first arguments. */
const OPENERS: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
  linux: ["xdg-open"],
};

/** Starts a program. Tests replace this function. */
export type StartProgram = (command: string, args: readonly string[]) => void;

/**
 * Opens an address in the user's browser. Accepts only `https`, and `http` on this machine. Passes the address as one
 * argument without a shell. Throws an `McpError` for other addresses, and if this system has no known opener.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/logging-in.md | Logging in}
 */
export function openInBrowser(address: string, start: StartProgram = startDetached): void {
  if (!isWebAddress(address)) {
    throw new McpError("misuse", "this address must not be opened", {
      fix: "Open only https addresses, or http on this machine, without a user name and control characters.",
    });
  }
  const opener = OPENERS[process.platform];
  if (opener === undefined) {
    throw new McpError("unsupported", `no program to open addresses is known on ${process.platform}`, {
      fix: "Print the address for the user instead.",
    });
  }
  const [command, ...args] = opener;
  // Pass the address as normalized by the URL parser, so that no other program can parse it differently.
  start(command, [...args, new URL(address).href]);
}

function startDetached(command: string, args: readonly string[]): void {
  const child = builtin("node:child_process").spawn(command, [...args], {
    detached: true,
    stdio: "ignore",
    shell: false,
  });
  // If no opener is installed, the user still has the address.
  child.on("error", () => {});
  child.unref();
}
