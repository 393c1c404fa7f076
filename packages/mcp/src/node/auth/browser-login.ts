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
  /** Shows the address to the user, or opens it: `openInBrowser` does. The library never opens one by itself. */
  open(url: string): void | Promise<void>;
  /** The port on this machine that the browser comes back to; 0 takes a free one. Default: 0. */
  port?: number | undefined;
  /** The path of the redirect address. Default: `/callback`. */
  path?: string | undefined;
  /** How long the user may take, in milliseconds. Default: 5 min. */
  timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 300_000;

/**
 * Logs in with the user's browser, which comes back to a listener on this machine. The listener is there only during the login, and
 * accepts nothing but the redirect that belongs to it.
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

/** One login by a listener; `also` may find the parameters in another way, or only show the address, until its signal aborts. */
export function attemptWith(
  listener: CallbackListener,
  also: (url: string, ended: AbortSignal) => Promise<URLSearchParams | undefined>,
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
      // Keeps the process alive during the login, which the listener does not.
      const timer = setTimeout(() => ended.abort(tooLate(timeoutMs)), timeoutMs);
      try {
        return await new Promise((resolve, reject) => {
          onAbort(ended.signal, () => reject(ended.signal.reason));
          listener.wait(state).then(resolve);
          also(url.href, ended.signal).then((parameters) => {
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

function tooLate(timeoutMs: number): McpError {
  return new McpError("authorization_failed", `nobody logged in within ${timeoutMs / 1_000} s`, {
    fix: "Log in again, or raise `timeoutMs`.",
  });
}

/** What the browser shows at the end of a login: static, without scripts, and without anything of the request. */
const CALLBACK_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  connection: "close",
} as const;

const CALLBACK_PAGE =
  "<!doctype html><meta charset=utf-8><title>Login</title><p>You can close this page and go back to the program.</p>\n";

/** Waits on this machine for the one redirect that ends a login. */
export class CallbackListener {
  readonly redirectUri: string;
  readonly port: number;
  readonly #server: Server;
  readonly #path: string;
  #expected: { state: string; found: (parameters: URLSearchParams) => void } | undefined;

  private constructor(server: Server, path: string) {
    this.#server = server;
    this.#path = path;
    // An open TCP server has an address of this form.
    this.port = (server.address() as AddressInfo).port;
    this.redirectUri = `http://127.0.0.1:${this.port}${path}`;
    server.on("request", (request: IncomingMessage, response) => {
      const parameters = this.#accept(request);
      const expected = this.#expected;
      if (parameters === undefined || expected === undefined) {
        response.writeHead(404, { connection: "close" }).end();
        return;
      }
      // One redirect ends a login; a second one with the same state is a copy of it.
      this.#expected = undefined;
      response.writeHead(200, CALLBACK_HEADERS).end(CALLBACK_PAGE);
      expected.found(parameters);
    });
  }

  /** Listens on loopback; port 0 takes a free one. */
  static open(port: number, path: string): Promise<CallbackListener> {
    const server = builtin("node:http").createServer();
    // A program that is closed during a login must not wait for it.
    server.unref();
    return new Promise((resolve, reject) => {
      server.once("error", (error) => reject(busy(port, error)));
      server.listen(port, "127.0.0.1", () => resolve(new CallbackListener(server, path)));
    });
  }

  /** The parameters of the redirect with this `state`. Others are ignored: any page can send the browser here. */
  wait(state: string): Promise<URLSearchParams> {
    return new Promise((resolve) => {
      this.#expected = { state, found: resolve };
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
    // Any page can send the browser here, with a target that is no URL.
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

/** The program that opens an address, and what it is told before it. */
const OPENERS: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
  linux: ["xdg-open"],
};

/** Starts a program; replaced in tests. */
export type StartProgram = (command: string, args: readonly string[]) => void;

/**
 * Opens an address in the user's browser. Only `https`, and `http` on this machine, and never through a shell: the address is one
 * argument, whatever it contains. Throws an `McpError` for other addresses and where no opener is known.
 */
export function openInBrowser(address: string, start: StartProgram = startDetached): void {
  if (!isWebAddress(address)) {
    throw new McpError("misuse", "this address must not be opened", {
      fix: "Open only https addresses, or http on this machine, without a user name and control characters.",
    });
  }
  const opener = OPENERS[process.platform];
  if (opener === undefined) {
    throw new McpError("unsupported", `no program is known that opens addresses on ${process.platform}`, {
      fix: "Print the address for the user instead.",
    });
  }
  const [command, ...args] = opener;
  // Spelled by the parser, so that nothing is left that another program might read differently.
  start(command, [...args, new URL(address).href]);
}

function startDetached(command: string, args: readonly string[]): void {
  const child = builtin("node:child_process").spawn(command, [...args], {
    detached: true,
    stdio: "ignore",
    shell: false,
  });
  // Without an opener the user still has the address.
  child.on("error", () => {});
  child.unref();
}
