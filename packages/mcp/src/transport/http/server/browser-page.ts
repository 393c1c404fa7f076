import { toBase64 } from "../../../encoding/base64.js";
import { printable } from "../../../encoding/printable.js";
import type { Implementation } from "../../../protocol/implementation.js";
import { REVISIONS } from "../../../protocol/revisions.js";
import type { HttpExchange } from "./exchange.js";
import type { HeaderList, Incoming } from "./incoming.js";
import type { Refusal } from "./refusal.js";

/**
 * Returns the reply to a person who opens the endpoint in a browser. With `refused`, the sender is not authenticated:
 * the page then has the status and headers of that refusal, and nothing that the server reports about itself. A
 * separate module, because programs never load it.
 */
export function browserPage(
  { state, http, principal }: HttpExchange,
  refused?: Pick<Refusal, "status" | "headers">,
): Refusal {
  const { options, endpoint } = state;
  const isRefused = refused !== undefined;
  const info = isRefused ? undefined : endpoint.info;
  const url = publicAddress(options.publicUrl ?? options.auth?.resource, http);
  const needsToken = isRefused && options.auth === undefined;
  const login = isRefused ? (needsToken ? "token" : "oauth") : principal === undefined ? "none" : "accepted";
  const facts = [
    ["Address", `<code>${escaped(url)}</code>`],
    ...(isRefused ? [] : [["Protocol", `MCP ${[...(endpoint.revisions ?? REVISIONS)].reverse().join(", ")}`]]),
    ["Login", LOGIN[login]],
  ];
  const body = [
    introduction(info),
    `<dl>${facts.map(([term, value]) => `<dt>${term}</dt><dd>${value}</dd>`).join("")}</dl>`,
    ...usage(entryName(info?.name ?? new URL(url).hostname), url, needsToken),
  ];
  return {
    status: refused?.status ?? 200,
    headers: [...PAGE_HEADERS, ...(refused?.headers ?? [])],
    text: documentOf(info?.title ?? info?.name ?? "MCP server", body.join("\n")),
  };
}

const LOGIN = {
  none: "not needed",
  accepted: "the server checks who calls, and has accepted this browser",
  oauth: "needed; the application opens the login in a browser",
  token: "needed; ask the operator of the server for a token",
} as const;

/**
 * Returns the address that clients use. Without `publicUrl`, it has the `Host` of the request, which the server has
 * checked. The page shows the path inside commands, so every character that a shell could interpret is encoded.
 */
function publicAddress(publicUrl: string | undefined, http: Incoming): string {
  if (publicUrl !== undefined) return new URL(publicUrl).href;
  // Set by proxies that terminate TLS. A forged value is harmless, because only its sender sees the page.
  const isSecure = http.isEncrypted || http.header("x-forwarded-proto") === "https";
  const [path = "/"] = http.path.replace(/^[a-z]+:\/\/[^/?#]*/i, "").split(/[?#]/, 1);
  const encoded = path.replace(/[^\w/.~%-]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return new URL(`http${isSecure ? "s" : ""}://${http.protocolHeaders.host}${encoded}`).href;
}

function introduction(info: Implementation | undefined): string {
  const about = "This is the address of an MCP server. Applications connect to it; a browser shows only this page.";
  if (info === undefined) return `<h1>MCP server</h1>\n<p>${about}</p>`;
  const { name, version, title = name, description, websiteUrl } = info;
  return [
    `<h1>${escaped(title)}</h1>`,
    `<p class="version">${title === name ? "" : `${escaped(name)} `}${escaped(version)}</p>`,
    description === undefined ? "" : `<p class="description">${escaped(description)}</p>`,
    websiteUrl !== undefined && /^https?:\/\//i.test(websiteUrl)
      ? `<p><a href="${escaped(websiteUrl)}" rel="noreferrer">${escaped(websiteUrl)}</a></p>`
      : "",
    `<p>${about}</p>`,
  ].join("\n");
}

/** Returns the part of the page with commands, links and configuration entries. */
function usage(name: string, url: string, needsToken: boolean): string[] {
  const word = /^[\w:/.~%-]+$/.test(url) ? url : `"${url.replaceAll('"', "%22")}"`;
  const header = needsToken ? ' --header "Authorization: Bearer <token>"' : "";
  const entry = {
    type: "http",
    url,
    ...(needsToken ? { headers: { Authorization: "Bearer <token>" } } : {}),
  };
  const config = toBase64(new TextEncoder().encode(JSON.stringify(entry)));
  const cursor = `cursor://anysphere.cursor-deeplink/mcp/install?name=${name}&config=${encodeURIComponent(config)}`;
  const code = `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name, ...entry }))}`;
  const file = (member: string) => JSON.stringify({ [member]: { [name]: entry } }, undefined, 2);
  return [
    "<h2>Try it</h2>",
    block(`npx @parley/cli inspect ${word}${header}`),
    "<h2>Add it to an application</h2>",
    `<h3>Claude Code</h3>${block(`claude mcp add --transport http ${name} ${word}${header}`)}`,
    `<h3>Cursor</h3><p>${link("Add to Cursor", cursor)}, or put this into <code>.cursor/mcp.json</code>:</p>`,
    block(file("mcpServers")),
    `<h3>VS Code</h3><p>${link("Add to VS Code", code)}, or put this into <code>.vscode/mcp.json</code>:</p>`,
    block(file("servers")),
  ];
}

/** Returns a name that every application accepts for an entry: a letter, then letters, digits, hyphens, underscores. */
function entryName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "");
  return /^[a-z]/i.test(plain) ? plain.slice(0, 64) : "server";
}

function block(text: string): string {
  return `<pre>${escaped(text)}</pre>`;
}

function link(label: string, href: string): string {
  return `<a href="${escaped(href)}">${label}</a>`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes text of the server, so that it is neither markup nor reorders the text around it. */
function escaped(text: string): string {
  return printable(text).replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
}

function documentOf(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --faint: #60646c; --line: #dfe2e6; --box: #f4f5f7; --link: #0b57c2; --page: #fff }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8eb; --faint: #9ba1a8; --line: #33373c; --box: #1d2023; --link: #7fb2ff; --page: #131517 }
}
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.55 system-ui, sans-serif }
main { max-width: 42rem; margin: 0 auto; padding: 3rem 1.25rem 4rem }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.25; overflow-wrap: anywhere }
h2 { margin: 2.5rem 0 0; font-size: 1.15rem }
h3 { margin: 1.5rem 0 .4rem; font-size: 1rem }
p { margin: .5rem 0; overflow-wrap: anywhere }
a { color: var(--link) }
.version { margin: .15rem 0 1rem; color: var(--faint) }
.description { white-space: pre-line }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1.5rem; margin: 1.5rem 0 0; padding: 1rem 0; border: solid var(--line); border-width: 1px 0 }
dt { color: var(--faint) }
dd { margin: 0; overflow-wrap: anywhere }
code, pre { font: .875rem/1.5 ui-monospace, monospace }
pre { margin: .4rem 0; padding: .75rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line); border-radius: 6px; background: var(--box); user-select: all }
`;

/** The SHA-256 digest of `STYLE`, which the browser compares before it applies the style. */
const STYLE_DIGEST = "FIeD021NmkzcKSn8t99rI50uc9Jd19ZKMaei0flQdho=";

const PAGE_HEADERS: HeaderList = [
  "content-type",
  "text/html; charset=utf-8",
  "content-security-policy",
  `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options",
  "nosniff",
  "referrer-policy",
  "no-referrer",
  "cache-control",
  "no-store",
];
