import type { ClientOptions } from "@parley/mcp";
import { isSecretName, REDACTED, type Redactor } from "@parley/mcp/recording";

/** Sends HTTP requests for a client. */
export type Sender = NonNullable<ClientOptions["sender"]>;
export type SendRequest = Parameters<Sender>[0];
export type SendResponse = Parameters<Parameters<Sender>[1]>[0];

/** Characters of a body that are kept. */
export const MOST_BODY = 64 * 1024;
/** Characters of a JSON text that is read; the documents of a login are shorter. */
const MOST_DOCUMENT = 512 * 1024;
/** Headers of one exchange that are kept. */
const MOST_HEADERS = 100;
/** Characters of one header that are kept. */
const MOST_HEADER = 8_192;

/** What is a secret of OAuth or MCP although its name does not say so. */
const MORE_SECRETS = new Set([
  "code",
  "code_verifier",
  "device_code",
  "assertion",
  "client_assertion",
  "mcp-session-id",
  "dpop",
]);

/** Headers as they are shown: the scheme of credentials stays, they themselves do not. */
export function shownHeaders(
  headers: Iterable<readonly [name: string, value: string]>,
  redactor: Redactor,
): Record<string, string> {
  const shown: [string, string][] = [];
  for (const [name, value] of headers) {
    if (shown.length >= MOST_HEADERS) break;
    const short = value.slice(0, MOST_HEADER);
    shown.push([name, isSecret(name) ? withoutCredentials(short) : redactor.text(short)]);
  }
  return Object.fromEntries(shown);
}

/** The headers of a request, which are names and values in turn. */
export function* headersOf({ headers }: SendRequest): IterableIterator<[string, string]> {
  for (let at = 0; at + 1 < headers.length; at += 2) yield [headers[at] ?? "", headers[at + 1] ?? ""];
}

/** A body of a login as it is shown: a form or JSON whose secrets are taken out, and the first `MOST_BODY` characters. */
export function shownBody(body: string, redactor: Redactor): string {
  const record = jsonRecord(body);
  if (record !== undefined) return bounded(JSON.stringify(redactor.value(withoutSecrets(record)), null, 2));
  if (!FORM.test(body)) return bounded(redactor.text(body.slice(0, MOST_BODY)));
  const form = [...new URLSearchParams(body)].map(
    ([name, value]) => [name, isSecret(name) ? REDACTED : value] as const,
  );
  return bounded(redactor.text(form.map(([name, value]) => `${name}=${value}`).join("\n")));
}

/** A text that is an object of JSON. */
export function jsonRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.length > MOST_DOCUMENT || !text.trimStart().startsWith("{")) return undefined;
  try {
    // Safe: a JSON text that begins with a brace is an object.
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

const FORM = /^[\w.~%+*-]+=[^\s]*$/;

function isSecret(name: string): boolean {
  return isSecretName(name) || MORE_SECRETS.has(name.toLowerCase());
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
  return text.length > MOST_BODY ? `${text.slice(0, MOST_BODY)}…` : text;
}
