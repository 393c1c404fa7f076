import type { ClientOptions } from "@parley/mcp";
import { isSecretName, REDACTED, type Redactor } from "@parley/mcp/recording";

/** The function that sends HTTP requests for a client. */
export type Sender = NonNullable<ClientOptions["sender"]>;
export type SendRequest = Parameters<Sender>[0];
export type SendResponse = Parameters<Parameters<Sender>[1]>[0];

/** Maximum length of a stored body, in characters. Longer bodies are truncated. */
export const MAX_BODY_LENGTH = 64 * 1024;
/**
 * Maximum length of a JSON text that is parsed, in characters. Longer texts are treated as plain text. The documents of
 * a login are shorter.
 */
const MAX_DOCUMENT_LENGTH = 512 * 1024;
/** Maximum number of stored headers per exchange. Further headers are omitted. */
const MAX_HEADERS = 100;
/** Maximum length of a stored header value, in characters. Longer values are truncated. */
const MAX_HEADER_LENGTH = 8_192;

/** Names of OAuth and MCP secrets that `isSecretName` does not recognize. */
const EXTRA_SECRET_NAMES = new Set([
  "code",
  "code_verifier",
  "device_code",
  "assertion",
  "client_assertion",
  "mcp-session-id",
  "dpop",
]);

/** Returns headers without secrets. The scheme of credentials remains. */
export function redactHeaders(
  headers: Iterable<readonly [name: string, value: string]>,
  redactor: Redactor,
): Record<string, string> {
  const shown: [string, string][] = [];
  for (const [name, value] of headers) {
    if (shown.length >= MAX_HEADERS) break;
    const short = value.slice(0, MAX_HEADER_LENGTH);
    shown.push([name, isSecret(name) ? withoutCredentials(short) : redactor.text(short)]);
  }
  return Object.fromEntries(shown);
}

/** Yields the headers of a request, which has them as a flat list of names and values. */
export function* headersOf({ headers }: SendRequest): IterableIterator<[string, string]> {
  for (let at = 0; at + 1 < headers.length; at += 2) yield [headers[at] ?? "", headers[at + 1] ?? ""];
}

/**
 * Returns the body of an HTTP request or response without secrets. A JSON object is indented, and a form has one field
 * per line. Truncated to `MAX_BODY_LENGTH` characters.
 */
export function redactBody(body: string, redactor: Redactor): string {
  const record = jsonRecord(body);
  if (record !== undefined) return bounded(JSON.stringify(redactor.value(withoutSecrets(record)), null, 2));
  if (!FORM.test(body)) return bounded(redactor.text(body.slice(0, MAX_BODY_LENGTH)));
  const form = [...new URLSearchParams(body)].map(
    ([name, value]) => [name, isSecret(name) ? REDACTED : value] as const,
  );
  return bounded(redactor.text(form.map(([name, value]) => `${name}=${value}`).join("\n")));
}

/** Parses a text that is a JSON object. Undefined for other texts, and for texts over `MAX_DOCUMENT_LENGTH`. */
export function jsonRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.length > MAX_DOCUMENT_LENGTH || !text.trimStart().startsWith("{")) return undefined;
  try {
    // Safe: a JSON text that begins with a brace is an object.
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

const FORM = /^[\w.~%+*-]+=[^\s]*$/;

function isSecret(name: string): boolean {
  return isSecretName(name) || EXTRA_SECRET_NAMES.has(name.toLowerCase());
}

function withoutCredentials(value: string): string {
  const scheme = /^(Bearer|Basic|DPoP|Digest) /i.exec(value)?.[1];
  return scheme === undefined ? REDACTED : `${scheme} ${REDACTED}`;
}

function withoutSecrets(record: Readonly<Record<string, unknown>>): object {
  const members = Object.entries(record).map(([name, value]) => [name, isSecret(name) ? REDACTED : value] as const);
  return Object.fromEntries(members);
}

function bounded(text: string): string {
  return text.length > MAX_BODY_LENGTH ? `${text.slice(0, MAX_BODY_LENGTH)}…` : text;
}
