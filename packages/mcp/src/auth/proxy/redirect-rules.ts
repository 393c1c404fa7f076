import { callHook } from "../../platform/call-hook.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import { addressClass, formProblem } from "../url/url-policy.js";

/** The options of the proxy that restrict redirects. */
export interface RedirectRuleOptions {
  readonly redirectSchemes?: readonly string[] | undefined;
  readonly allowRedirect?: ((redirectUri: string) => boolean) | undefined;
}

const MAX_LENGTH = 2_048;
const SCHEME = /^[a-z][a-z0-9+.-]*$/;
/** A scheme and a path (RFC 8252, 7.1), of printable characters and without a fragment. */
const PRIVATE_SCHEME_URI = /^([a-z][a-z0-9+.-]*):\/[\x21\x22\x24-\x7e]*$/;
const WEB = /^https?:\/\/([^/?]*)([^?]*)/i;
/** Schemes that browsers and operating systems open, load or run themselves. No application can own them. */
const FORBIDDEN_SCHEMES: ReadonlySet<string> = new Set(
  (
    "about blob chrome chrome-extension chrome-untrusted content data devtools edge facetime feed file filesystem ftp geo gopher http https " +
    "imap intent jar javascript ldap mailto market moz-extension ms-appinstaller ms-msdt news nfs res resource search-ms sftp shell sms smb ssh " +
    "tel telnet urn vbscript view-source ws wss wyciwyg"
  ).split(" "),
);

/** Decides which addresses a client may have users redirected to. */
export class RedirectRules {
  readonly #platform: Platform;
  readonly #schemes: ReadonlySet<string>;
  readonly #allowRedirect: ((redirectUri: string) => boolean) | undefined;

  constructor({ redirectSchemes = [], allowRedirect }: RedirectRuleOptions, platform: Platform) {
    this.#platform = platform;
    for (const scheme of redirectSchemes) checkScheme(scheme);
    this.#schemes = new Set(redirectSchemes);
    this.#allowRedirect = allowRedirect;
  }

  /** True if an address is allowed at all: by its form and by the operator's `allowRedirect`. */
  allows(uri: unknown): uri is string {
    if (typeof uri !== "string" || !(isWeb(uri) || this.#isPrivate(uri))) return false;
    const allowRedirect = this.#allowRedirect;
    return allowRedirect === undefined || returnsTrue(this.#platform, "allowRedirect", () => allowRedirect(uri));
  }

  /**
   * True if a client with these registered addresses may use `uri`. It must be registered exactly, except that the port
   * of a loopback address may differ (RFC 8252, 7.3). Also applies `allowRedirect` to `uri`, because the operator may
   * have changed that option since the registration.
   */
  fits(registered: readonly string[], uri: string): boolean {
    return this.allows(uri) && (registered.includes(uri) || registered.some((known) => differsInPort(known, uri)));
  }

  #isPrivate(uri: string): boolean {
    const [, scheme = ""] = (uri.length > MAX_LENGTH ? null : PRIVATE_SCHEME_URI.exec(uri)) ?? [];
    if (!this.#schemes.has(scheme) || !URL.canParse(uri)) return false;
    const { username, password } = new URL(uri);
    return username === "" && password === "";
  }
}

/**
 * True if a function of the operator returns true. An error is reported under the option's `name` and counts as false,
 * as does a promise, which the types forbid.
 */
export function returnsTrue(platform: Platform, name: string, ask: () => unknown): boolean {
  let verdict: unknown;
  callHook(platform, name, () => {
    verdict = ask();
    return verdict;
  });
  return verdict === true;
}

/** Throws for an invalid scheme, or one that an application cannot own. */
function checkScheme(scheme: unknown): void {
  if (typeof scheme === "string" && SCHEME.test(scheme) && !FORBIDDEN_SCHEMES.has(scheme)) return;
  throw new McpError("invalid_definition", `\`redirectSchemes\` must not contain ${JSON.stringify(scheme)}`, {
    fix: 'Name schemes that belong to one application, in lower case and without the colon, such as "cursor" or "com.example.app".',
  });
}

/** True for an https address, or an http address on the user's machine. */
function isWeb(uri: string): boolean {
  if (formProblem(uri) !== undefined || !isSpelledAsRead(uri)) return false;
  const { protocol, hostname } = new URL(uri);
  return protocol === "https:" || addressClass(hostname) === "loopback";
}

/**
 * True if host and path are spelled as a URL parser reads them. Rejects `https:evil`, `http://127.1` and `/a/../b`.
 */
function isSpelledAsRead(uri: string): boolean {
  const [, authority = "", path = ""] = WEB.exec(uri) ?? [];
  const { protocol, host, pathname } = new URL(uri);
  const written = authority.toLowerCase();
  const isHost = written === host || written === `${host}:${protocol === "https:" ? 443 : 80}`;
  return isHost && (path === pathname || path === "");
}

function differsInPort(known: string, uri: string): boolean {
  if (!isWeb(known) || !isWeb(uri)) return false;
  const { protocol, hostname } = new URL(uri);
  return protocol === "http:" && addressClass(hostname) === "loopback" && withoutPort(known) === withoutPort(uri);
}

function withoutPort(uri: string): string {
  const url = new URL(uri);
  url.port = "";
  return url.href;
}

/** True if the client id is the address of a metadata document. Ids of registered clients never begin like this. */
export function isDocumentId(clientId: string): boolean {
  return clientId.startsWith("https://");
}
