import type { ServedDocument } from "../../http/authentication.js";

/** No page of the proxy may be framed, cached, or tell another site where the user was. */
const SAFE = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
} as const;

/** A JSON reply that any page may read: clients in browsers register and get tokens too. */
export function jsonReply(status: number, body: object, extra: Readonly<Record<string, string>> = {}): ServedDocument {
  const headers = { ...SAFE, "content-type": "application/json", "access-control-allow-origin": "*", ...extra };
  return { status, headers, body: JSON.stringify(body) };
}

/** An error as RFC 6749, 5.2 has it. */
export function errorReply(
  status: number,
  error: string,
  description: string,
  extra?: Readonly<Record<string, string>>,
): ServedDocument {
  return jsonReply(status, { error, error_description: description }, extra);
}

/**
 * A page of escaped text; nothing in it can run or load.
 *
 * There is no `form-action`: browsers hold the redirects that follow a form to it, and these go to the provider and the client. The
 * page must be a referrer for its own origin, because without one browsers send `Origin: null` with its form.
 */
export function pageReply(status: number, html: string, extra: Readonly<Record<string, string>> = {}): ServedDocument {
  const headers = {
    ...SAFE,
    "referrer-policy": "same-origin",
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    ...extra,
  };
  return { status, headers, body: html };
}

/** Sends the browser on with a GET. */
export function redirectReply(url: string, extra: Readonly<Record<string, string>> = {}): ServedDocument {
  return { status: 303, headers: { ...SAFE, location: url, ...extra }, body: "" };
}

/** Text for a page. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The content of the page that asks for consent. */
interface ConsentRequest {
  /** The name of this server, for the heading. */
  readonly service: string;
  /** The name that the client chose; it proves nothing. */
  readonly clientName: string;
  /** The address of the document that describes the client, where it has one. */
  readonly document: string | undefined;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** Where the answer goes, and the sealed request that goes with it. */
  readonly action: string;
  readonly request: string;
}

/** The page that asks whether a client may act for the user. It names where the access goes, which a client cannot choose freely. */
export function consentPage(asked: ConsentRequest): string {
  const { service, clientName, document, redirectUri, scopes, action, request } = asked;
  const list = scopes.map((scope) => `<li>${escapeHtml(scope)}</li>`).join("");
  const { host, protocol } = new URL(redirectUri);
  // A scheme of an application may stand without a host.
  const target = /^https?:$/.test(protocol) ? host : protocol;
  const name = clientName === "" ? "An application without a name" : clientName;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Allow access?</title>
<style>body{font:1rem/1.5 system-ui;max-width:36rem;margin:3rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1.5rem}</style>
<h1>Allow access to ${escapeHtml(service)}?</h1>
<p><strong>${escapeHtml(name)}</strong> asks to act for you. It chose this name itself; what counts is where access goes:</p>
<p><strong>${escapeHtml(target)}</strong><br><small>${escapeHtml(redirectUri)}</small></p>
${document === undefined ? "" : `<p>It is described at <small>${escapeHtml(document)}</small></p>`}
${scopes.length === 0 ? "" : `<p>It asks for:</p><ul>${list}</ul>`}
<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="request" value="${escapeHtml(request)}">
<button name="answer" value="allow">Allow</button> <button name="answer" value="deny">Deny</button>
</form></html>
`;
}

/** The page for a request that must not lead anywhere. */
export function errorPage(message: string): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>This did not work</title>
<h1>This did not work</h1><p>${escapeHtml(message)}</p></html>
`;
}

/** Whether a parameter comes more than once; RFC 6749, 3.1 and 3.2: none may, because two readers could take different ones. */
export function hasRepeatedParameter(parameters: URLSearchParams): boolean {
  return new Set(parameters.keys()).size !== [...parameters.keys()].length;
}
