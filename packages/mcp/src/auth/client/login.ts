import { isWebAddress } from "../../encoding/web-address.js";
import { McpError } from "../../protocol/error.js";

/** One attempt of a user to log in. */
export interface LoginAttempt {
  /** Where the authorization server sends the user back to; it is registered and sent character for character. */
  readonly redirectUri: string;
  /**
   * Lets the user visit `url`, and resolves with all parameters of the redirect. They are checked by the caller, so that nothing
   * may be left out or read before that. `state` is the one that the redirect must have; `url` need not contain it. Rejects when the
   * user gives up.
   */
  visit(url: URL, state?: string): Promise<URLSearchParams>;
  /** Called once at the end of the attempt, however it ends. */
  close?(): void;
}

/** The prompt of the device flow. */
export interface DevicePrompt {
  /** The page to open on any device. */
  readonly url: string;
  /** The code to type there. */
  readonly code: string;
  /** The page with the code filled in, where the server offers it. */
  readonly completeUrl?: string | undefined;
  readonly expiresInSeconds: number;
}

/** How a user logs in: by a redirect, or by a code that is typed on another device. */
export type Login =
  | {
      readonly kind: "redirect";
      /** `native` for programs on the user's machine, `web` for services with a public redirect address. */
      readonly applicationType: "native" | "web";
      /** How long the user may take, in milliseconds. Default: as long as the attempt itself allows, at most 1 h. */
      readonly timeoutMs?: number | undefined;
      /** Begins an attempt; `signal` aborts when the login is no longer needed. */
      begin(signal: AbortSignal): Promise<LoginAttempt>;
    }
  | { readonly kind: "device"; show(prompt: DevicePrompt): void | Promise<void> };

/** Options for `redirectLogin`. */
export interface RedirectLoginOptions {
  /** An address of yours, registered with the authorization server. */
  redirectUri: string;
  /**
   * Sends the user to `url` and resolves with the parameters, or the whole address, of the redirect that follows. `signal` aborts when
   * the login is no longer needed.
   */
  visit(url: URL, signal: AbortSignal): Promise<URLSearchParams | URL | string>;
  /** How long the user may take, in milliseconds. Default: 5 min. */
  timeoutMs?: number | undefined;
  /** Default: `web` for https addresses, `native` for others. */
  applicationType?: "native" | "web" | undefined;
}

/** Logs in by a redirect that your program receives: a web application, a custom scheme handled by an app, or a pasted address. */
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

/** A scheme of an app is a reversed domain name (RFC 8252, 7.1), which no program of the system claims. */
const APP_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;

function checkRedirect(uri: string): void {
  const isApp = URL.canParse(uri) && APP_SCHEME.test(new URL(uri).protocol);
  if ((isApp || isWebAddress(uri)) && !uri.includes("#")) return;
  throw new McpError("misuse", `\`redirectUri\` must not be used: ${JSON.stringify(uri)}`, {
    fix: "Use https, http on this machine, or the scheme of an app such as `com.example.app:/callback`, without a fragment.",
  });
}

/** Logs in on another device, for machines without a browser; the authorization server must offer the device flow. */
export function deviceLogin(show: (prompt: DevicePrompt) => void | Promise<void>): Login {
  return { kind: "device", show };
}

/** The parameters of a redirect, of which a program or a person may give the whole address. */
export function parametersOf(given: URLSearchParams | URL | string): URLSearchParams {
  if (given instanceof URLSearchParams) return given;
  const text = String(given).trim();
  if (URL.canParse(text)) return new URL(text).searchParams;
  return new URLSearchParams(text.slice(text.indexOf("?") + 1));
}
