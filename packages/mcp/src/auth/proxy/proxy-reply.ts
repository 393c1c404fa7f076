import type { ServedDocument } from "../../http/authentication.js";

/** Prevents pages of the proxy from being framed or cached, and from sending their address to other sites. */
const SAFE_HEADERS = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
} as const;

/** Creates a JSON response that any page may read, because clients in browsers register and request tokens, too. */
export function jsonReply(status: number, body: object, extra: Readonly<Record<string, string>> = {}): ServedDocument {
  const headers = { ...SAFE_HEADERS, "content-type": "application/json", "access-control-allow-origin": "*", ...extra };
  return { status, headers, body: JSON.stringify(body) };
}

/** Creates an error response as in RFC 6749, 5.2. */
export function errorReply(
  status: number,
  error: string,
  description: string,
  extra?: Readonly<Record<string, string>>,
): ServedDocument {
  return jsonReply(status, { error, error_description: description }, extra);
}

/**
 * Creates a page of escaped text. Nothing in it can run or load.
 *
 * The policy has no `form-action`: browsers also apply it to the redirects after a form, which go to the provider and
 * the client. The referrer policy is `same-origin`, because without a referrer browsers send `Origin: null` with the
 * form, which the consent endpoint refuses.
 */
export function pageReply(status: number, html: string, extra: Readonly<Record<string, string>> = {}): ServedDocument {
  const headers = {
    ...SAFE_HEADERS,
    "referrer-policy": "same-origin",
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    ...extra,
  };
  return { status, headers, body: html };
}

/** Redirects the browser with a GET. */
export function redirectReply(url: string, extra: Readonly<Record<string, string>> = {}): ServedDocument {
  return { status: 303, headers: { ...SAFE_HEADERS, location: url, ...extra }, body: "" };
}

/** Escapes text for a page. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The content of the consent page. */
interface ConsentRequest {
  /** The name of this server, for the heading. */
  readonly service: string;
  /** The name that the client chose. It is not verified. */
  readonly clientName: string;
  /** Address of the client's metadata document, if it has one. */
  readonly document: string | undefined;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** The address that the form posts to. */
  readonly action: string;
  /** The sealed request, sent back with the form. */
  readonly request: string;
}

/**
 * Creates the page on which the user allows or denies a client. It shows the redirect target, because a client can
 * choose any name but not any redirect target.
 */
export function consentPage(asked: ConsentRequest): string {
  const { service, clientName, document, redirectUri, scopes, action, request } = asked;
  const list = scopes.map((scope) => `<li>${escapeHtml(scope)}</li>`).join("");
  const { host, protocol } = new URL(redirectUri);
  // An address with the scheme of an application may have no host, so the page shows the scheme.
  const target = /^https?:$/.test(protocol) ? host : protocol;
  const name = clientName === "" ? "An application without a name" : clientName;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Allow access?</title>
<style>body{font:1rem/1.5 system-ui;max-width:36rem;margin:3rem auto;padding:0 1rem}button{font:inherit;padding:.5rem 1.5rem}</style>
<h1>Allow access to ${escapeHtml(service)}?</h1>
<p><strong>${escapeHtml(name)}</strong> asks to act for you. It chose this name itself. Check where the access goes:</p>
<p><strong>${escapeHtml(target)}</strong><br><small>${escapeHtml(redirectUri)}</small></p>
${document === undefined ? "" : `<p>It is described at <small>${escapeHtml(document)}</small></p>`}
${scopes.length === 0 ? "" : `<p>It asks for:</p><ul>${list}</ul>`}
<form method="post" action="${escapeHtml(action)}">
<input type="hidden" name="request" value="${escapeHtml(request)}">
<button name="answer" value="allow">Allow</button> <button name="answer" value="deny">Deny</button>
</form></html>
`;
}

/** Creates a page that shows a problem to the user. */
export function errorPage(message: string): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>This did not work</title>
<h1>This did not work</h1><p>${escapeHtml(message)}</p></html>
`;
}

/**
 * True if a parameter is repeated. RFC 6749, 3.1 and 3.2, forbid that, because two readers could use different values.
 */
export function hasRepeatedParameter(parameters: URLSearchParams): boolean {
  return new Set(parameters.keys()).size !== [...parameters.keys()].length;
}
