import { checkOptions } from "../../../protocol/check-options.js";
import { McpError } from "../../../protocol/error.js";
import { DIRECTIVES, DOMAIN, LOOPBACK_DOMAIN, MAX_DOMAIN_LENGTH, MAX_DOMAINS } from "../content-policy.js";

/** Options of `sandboxPage`. */
export interface SandboxPageOptions {
  /** The origins whose pages may show apps in this sandbox, such as `https://chat.example.com`. */
  hosts: readonly string[];
  /** Allows pages to reach loopback domains that they declare, for development. Default: false. */
  allowLoopback?: boolean | undefined;
}

/** The sandbox page and its headers. */
export interface SandboxPage {
  /** The page, complete with its script. It loads nothing else. */
  readonly html: string;
  /** The response headers. Serve all of them: `content-security-policy` restricts which origins may embed the page. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Sandbox flags that a host may allow. Excludes navigation of the top window, popups and downloads. */
export const SANDBOX_FLAGS = ["allow-scripts", "allow-forms", "allow-same-origin"] as const;

/** The names of the permissions in the frame attribute `allow`. */
export const FEATURES = {
  camera: "camera",
  microphone: "microphone",
  geolocation: "geolocation",
  clipboardWrite: "clipboard-write",
} as const;

/**
 * The script of the page. Its rules:
 *
 * - It exchanges messages only with one host, whose origin must be in `hosts`, and with the frame that it creates.
 * - It applies the app's policy to this page too, before it creates the app's frame. The frame inherits the policy, so
 *   the policy does not depend on the app's HTML. A frame can only be navigated to what its parent's `frame-src` allows,
 *   so an app cannot send data out by navigating itself.
 * - Once the app has loaded and inherited its policy, the script forbids all navigation. Otherwise a page from a domain
 *   in `frameDomains` could replace the app, and would not have the policy.
 * - A frame that loads a second time is no longer the app. The script stops forwarding its messages and notifies the
 *   host.
 */
const SCRIPT = `(() => {
  "use strict";
  const { hosts, directives, domain, loopback, features, flags, maxDomains, maxLength } = SETTINGS;
  const above = location.ancestorOrigins?.[0] ?? (URL.canParse(document.referrer) ? new URL(document.referrer).origin : "");
  if (parent === self || !hosts.includes(above)) return;
  const isDomain = (text) => typeof text === "string" && text.length <= maxLength &&
    (new RegExp(domain, "i").test(text) || loopback !== "" && new RegExp(loopback, "i").test(text));
  const own = (value, name) => value !== null && typeof value === "object" && Object.hasOwn(value, name) ? value[name] : undefined;
  const allowed = (csp, list) => {
    const domains = list === "" ? undefined : own(csp, list);
    return Array.isArray(domains) ? domains.slice(0, maxDomains).filter(isDomain) : [];
  };
  const policyOf = (csp) => directives.map(([name, always, list]) =>
    name + " " + ([always, ...allowed(csp, list)].filter((source) => source !== "").join(" ") || "'none'")).join("; ");
  const isReserved = (message) => String(own(message, "method")).startsWith("ui/notifications/sandbox-");
  const notifyHost = (name) => parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-" + name, params: {} }, above);
  const addPolicy = (content) => {
    const meta = document.createElement("meta");
    meta.httpEquiv = "content-security-policy";
    meta.content = content;
    document.head.append(meta);
    return meta;
  };
  let frame;
  let loads = 0;
  let stays = false;
  const stay = () => {
    if (!stays) addPolicy("frame-src 'none'");
    stays = true;
  };
  const show = (params) => {
    const html = own(params, "html");
    if (typeof html !== "string") return;
    const policy = policyOf(own(params, "csp"));
    const meta = addPolicy(policy);
    frame = document.createElement("iframe");
    const asked = own(params, "sandbox");
    const chosen = typeof asked === "string" ? asked.split(" ").filter((flag) => flags.includes(flag)) : flags.slice(0, 2);
    frame.setAttribute("sandbox", chosen.join(" "));
    const permissions = own(params, "permissions");
    frame.allow = Object.entries(features).filter(([name]) => own(permissions, name)).map(([, feature]) => feature).join("; ");
    frame.addEventListener("load", () => {
      loads += 1;
      stay();
      if (loads === 2) notifyHost("resource-gone");
    });
    const head = document.createElement("div");
    head.append(meta.cloneNode());
    frame.srcdoc = "<!doctype html><html><head>" + head.innerHTML + '<meta http-equiv="x-dns-prefetch-control" content="off">' + html;
    document.body.append(frame);
  };
  addEventListener("message", ({ source, origin, data }) => {
    if (source === parent && origin === above) {
      if (!isReserved(data)) { if (frame && loads < 2) frame.contentWindow.postMessage(data, "*"); }
      else if (!frame && data.method === "ui/notifications/sandbox-resource-ready") show(own(data, "params"));
    } else if (frame && source === frame.contentWindow && loads < 2) {
      stay();
      if (!isReserved(data)) parent.postMessage(data, above);
    }
  });
  notifyHost("proxy-ready");
})();`;

const STYLE = "html,body,iframe{margin:0;padding:0;border:0;width:100%;height:100%;display:block;overflow:hidden}";

/**
 * Returns the page that a host serves from another origin, for `sandbox` of `showApp`. Apps run in a frame inside this
 * page, isolated from the host's cookies, storage and document. Throws `invalid_definition` if `hosts` contains
 * anything but origins.
 *
 * Spec: MCP Apps, "Sandbox proxy", https://modelcontextprotocol.io/extensions/apps/overview
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/apps.md | Apps}
 */
export function sandboxPage(options: SandboxPageOptions): SandboxPage {
  checkOptions("sandboxPage", options, "hosts allowLoopback");
  const { hosts, allowLoopback = false } = options;
  const wrong = Array.isArray(hosts) && hosts.length > 0 ? hosts.find((host) => !isOrigin(host)) : hosts;
  if (wrong !== undefined) {
    throw new McpError("invalid_definition", `${JSON.stringify(wrong)} in \`hosts\` of sandboxPage is not an origin`, {
      fix: "List origins such as `https://chat.example.com`, without a path. A content security policy cannot contain IPv6 addresses.",
    });
  }
  const settings = {
    hosts,
    directives: DIRECTIVES,
    domain: DOMAIN.source,
    loopback: allowLoopback ? LOOPBACK_DOMAIN.source : "",
    features: FEATURES,
    flags: SANDBOX_FLAGS,
    maxDomains: MAX_DOMAINS,
    maxLength: MAX_DOMAIN_LENGTH,
  };
  // A replacer function, because `$` is special in a replacement string. `<` is escaped, because it could end the
  // script.
  const script = SCRIPT.replace("SETTINGS", () => JSON.stringify(settings).replaceAll("<", "\\u003c"));
  return {
    html: `<!doctype html><html><head><meta charset="utf-8"><title>App</title><style>${STYLE}</style></head><body><script>${script}</script></body></html>`,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `frame-ancestors ${hosts.join(" ")}`,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-cache",
    },
  };
}

function isOrigin(value: unknown): boolean {
  // Browsers ignore IPv6 addresses in `frame-ancestors`, so a host with such an address could not embed the page.
  return (
    typeof value === "string" && /^https?:[^[]+$/.test(value) && URL.canParse(value) && new URL(value).origin === value
  );
}
