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
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
