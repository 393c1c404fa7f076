import { isWebAddress } from "../../encoding/web-address.js";
import { McpError } from "../../protocol/error.js";

/** One attempt of a user to log in. */
export interface LoginAttempt {
  /**
   * The address that the authorization server redirects the user to. It is registered and sent exactly as it is spelled
   * here.
   */
  readonly redirectUri: string;
  /**
   * Sends the user to `url` and resolves with all parameters of the redirect. Must not remove any parameter, because
   * the caller validates them. `state` is the value that the redirect must carry. It is passed separately, because
   * `url` does not contain it if the authorization request was pushed. Rejects if the user cancels.
   */
  visit(url: URL, state?: string): Promise<URLSearchParams>;
  /** Called once when the attempt ends, whatever the outcome. */
  close?(): void;
}

/** The page and code that the device flow shows to the user. */
export interface DevicePrompt {
  /** The page to open on any device. */
  readonly url: string;
  /** The code to type on that page. */
  readonly code: string;
  /** The page with the code filled in. Undefined if the server does not offer it. */
  readonly completeUrl?: string | undefined;
  /** Seconds until the code expires, counted from the prompt. */
  readonly expiresInSeconds: number;
}

/** The way a user logs in: by a redirect, or by a code that the user types on another device. */
export type Login =
  | {
      /** Selects the authorization code flow. */
      readonly kind: "redirect";
      /** `native` for programs on the user's machine, `web` for services with a public redirect address. */
      readonly applicationType: "native" | "web";
      /**
       * Time limit for the user, in milliseconds. Default: 1 h. An attempt may end earlier by its own limit.
       */
      readonly timeoutMs?: number | undefined;
      /** Starts an attempt. `signal` aborts when the login is no longer needed. */
      begin(signal: AbortSignal): Promise<LoginAttempt>;
    }
  | {
      /** Selects the device flow. */
      readonly kind: "device";
      /** Shows the page and the code to the user. Polling starts when it returns or its promise resolves. */
      show(prompt: DevicePrompt): void | Promise<void>;
    };

/** Options for `redirectLogin`. */
export interface RedirectLoginOptions {
  /** A redirect address of your program, registered with the authorization server. */
  redirectUri: string;
  /**
   * Sends the user to `url` and resolves with the redirect that follows: its parameters or its whole address. `signal`
   * aborts when the login is no longer needed.
   */
  visit(url: URL, signal: AbortSignal): Promise<URLSearchParams | URL | string>;
  /** Time limit for the user, in milliseconds. Default: 5 min. */
  timeoutMs?: number | undefined;
  /** Type of the client in a registration. Default: `web` for https addresses, `native` for others. */
  applicationType?: "native" | "web" | undefined;
}

/**
 * Logs in by a redirect that your program receives: in a web application, an app with a custom scheme, or a prompt
 * where the user pastes the address.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/logging-in.md | Logging in}
 */
export function redirectLogin(options: RedirectLoginOptions): Login {
  const { redirectUri, visit, applicationType, timeoutMs = REDIRECT_MS } = options;
  checkRedirect(redirectUri);
  return {
    kind: "redirect",
    applicationType: applicationType ?? (redirectUri.startsWith("https:") ? "web" : "native"),
    timeoutMs,
    begin: async (signal) => ({ redirectUri, visit: async (url) => parametersOf(await visit(url, signal)) }),
  };
}

const REDIRECT_MS = 300_000;

/**
 * Custom schemes that an app may use: reversed domain names (RFC 8252, 7.1). Schemes of system programs do not have
 * this form.
 */
const APP_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;

function checkRedirect(uri: string): void {
  const isApp = URL.canParse(uri) && APP_SCHEME.test(new URL(uri).protocol);
  if ((isApp || isWebAddress(uri)) && !uri.includes("#")) return;
  throw new McpError("misuse", `\`redirectUri\` is not allowed: ${JSON.stringify(uri)}`, {
    fix: "Use https, http on this machine, or the scheme of an app such as `com.example.app:/callback`, without a fragment.",
  });
}

/**
 * Logs in on another device, for machines without a browser. The authorization server must support the device flow.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/logging-in.md | Logging in}
 */
export function deviceLogin(show: (prompt: DevicePrompt) => void | Promise<void>): Login {
  return { kind: "device", show };
}

/** Returns the parameters of a redirect, given as parameters, a query or a whole address. */
export function parametersOf(given: URLSearchParams | URL | string): URLSearchParams {
  if (given instanceof URLSearchParams) return given;
  const text = String(given).trim();
  if (URL.canParse(text)) return new URL(text).searchParams;
  return new URLSearchParams(text.slice(text.indexOf("?") + 1));
}
