import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { McpError } from "../../protocol/error.js";
import { builtin } from "../builtin.js";

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
