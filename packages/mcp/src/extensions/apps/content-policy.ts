import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { UiCsp } from "../../protocol/features/apps.js";

/**
 * Matches an origin with a DNS name, optionally with a wildcard for the first labels. Excludes paths, IP addresses,
 * wildcards for all hosts, and characters that could end a source or a directive.
 */
export const DOMAIN =
  /^(?:https|wss):\/\/(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?(?::\d{1,5})?$/i;
/** Matches an origin on this machine, for development. */
export const LOOPBACK_DOMAIN = /^(?:https?|wss?):\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/i;

/** Maximum length of one domain, in characters. */
export const MAX_DOMAIN_LENGTH = 300;
/** Maximum number of domains in one list. A server cannot declare more, and a client ignores further ones. */
export const MAX_DOMAINS = 64;

/** The domain lists of `csp`. */
export const CSP_LISTS = ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"] as const;

/**
 * The policy of a page: each directive with its fixed sources, and the `csp` list whose domains it also allows. A
 * directive without sources becomes `'none'`. Forms cannot submit anywhere, because they could send data to other
 * sites.
 *
 * Spec: MCP Apps, "Content Security Policy Enforcement"
 */
export const DIRECTIVES: readonly (readonly [name: string, always: string, list: keyof UiCsp | ""])[] = [
  ["default-src", "", ""],
  ["script-src", "'self' 'unsafe-inline'", "resourceDomains"],
  ["style-src", "'self' 'unsafe-inline'", "resourceDomains"],
  ["img-src", "'self' data:", "resourceDomains"],
  ["font-src", "'self'", "resourceDomains"],
  ["media-src", "'self' data:", "resourceDomains"],
  ["connect-src", "", "connectDomains"],
  ["frame-src", "", "frameDomains"],
  ["base-uri", "'self'", "baseUriDomains"],
  ["object-src", "", ""],
  ["form-action", "", ""],
];

/** True if a value is an origin that a page may declare. */
export function isDomain(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= MAX_DOMAIN_LENGTH &&
    (DOMAIN.test(value) || LOOPBACK_DOMAIN.test(value))
  );
}

/**
 * Returns the content security policy of a page. The policy allows only the domains in `csp`. Ignores values that are
 * not domains, and loopback domains unless `loopback` is true.
 *
 * @example
 * ```ts
 * import { contentPolicy } from "@parley/mcp/apps";
 *
 * const policy = contentPolicy({ connectDomains: ["https://api.example.com"] });
 * ```
 */
export function contentPolicy(csp: UiCsp | undefined, loopback = false): string {
  const allowed = (list: keyof UiCsp | "") =>
    (list === "" ? [] : (csp?.[list] ?? []))
      .slice(0, MAX_DOMAINS)
      .filter((domain) => isDomain(domain) && (loopback || !LOOPBACK_DOMAIN.test(domain)));
  return DIRECTIVES.map(([name, always, list]) => {
    const sources = [...(always === "" ? [] : [always]), ...allowed(list)].join(" ");
    return `${name} ${sources === "" ? "'none'" : sources}`;
  }).join("; ");
}

/** Throws `invalid_definition` if a server declares an invalid domain. */
export function checkCsp(what: string, csp: UiCsp | undefined): void {
  for (const list of CSP_LISTS) {
    const domains: unknown = csp?.[list];
    if (domains === undefined) continue;
    if (!Array.isArray(domains) || domains.length > MAX_DOMAINS) {
      throw new McpError(
        "invalid_definition",
        `\`csp.${list}\` of ${what} is not a list of at most ${MAX_DOMAINS} domains`,
      );
    }
    const wrong = domains.find((domain) => !isDomain(domain));
    if (wrong === undefined) continue;
    throw new McpError("invalid_definition", `${JSON.stringify(wrong)} in \`csp.${list}\` of ${what} is not a domain`, {
      fix: "Write an origin, such as `https://api.example.com`, `wss://live.example.com:8443` or `https://*.example.com`.",
    });
  }
}

/** Reads the `csp` that a server sent. Returns the valid part, and reports the rest to `drop`. */
export function readCsp(csp: unknown, drop: (what: string) => void): UiCsp {
  if (csp !== undefined && !isObject(csp)) drop("`csp`, which is not an object");
  const read: UiCsp = {};
  for (const list of CSP_LISTS) {
    const domains = isObject(csp) && Object.hasOwn(csp, list) ? csp[list] : [];
    if (!Array.isArray(domains)) {
      drop(`\`csp.${list}\`, which is not a list`);
      continue;
    }
    if (domains.length > MAX_DOMAINS) drop(`all but ${MAX_DOMAINS} of \`csp.${list}\``);
    const given: unknown[] = domains.slice(0, MAX_DOMAINS);
    for (const domain of given)
      if (!isDomain(domain)) drop(`${shown(domain)} in \`csp.${list}\`, which is not a domain`);
    const kept = given.filter(isDomain);
    if (kept.length > 0) read[list] = kept;
  }
  return read;
}

const shown = (value: unknown) =>
  typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : `a ${typeof value}`;
