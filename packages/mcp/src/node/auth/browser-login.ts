import type { Login, LoginAttempt } from "../../auth/client/login.js";
import { hookResult } from "../../auth/discovery/steps.js";
import { McpError } from "../../protocol/error.js";
import { CallbackListener } from "./callback-listener.js";

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
      const stop = () => ended.abort(signal.reason);
      signal.addEventListener("abort", stop);
      // Keeps the process alive during the login, which the listener does not.
      const timer = setTimeout(() => ended.abort(tooLate(timeoutMs)), timeoutMs);
      try {
        return await new Promise((resolve, reject) => {
          ended.signal.addEventListener("abort", () => reject(ended.signal.reason));
          listener.wait(state).then(resolve);
          also(url.href, ended.signal).then((parameters) => {
            if (parameters !== undefined) resolve(parameters);
          }, reject);
        });
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
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
