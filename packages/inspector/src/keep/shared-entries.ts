import { REDACTED, type Redactor } from "@parley/mcp/recording";
import type { ConnectionInfo } from "../contract/connections.js";
import type { EntryDetail, EntrySummary, HttpExchange } from "../contract/timeline.js";
import { boundedJson } from "../timeline/bounded-json.js";
import type { StoredEntry } from "../timeline/entry-ring.js";

/** Headers whose values say how an exchange went; the values of all others are taken out. */
const OPEN_HEADERS = new Set(
  (
    "accept accept-encoding accept-language allow cache-control connection content-encoding content-length content-type date " +
    "host mcp-method mcp-name mcp-protocol-version retry-after server transfer-encoding user-agent vary www-authenticate"
  ).split(" "),
);

/** Queries of addresses: keys of services and signatures stand there under any name. Ends where a JSON text or a page would. */
const QUERY = /\b((?:https?|wss?):\/\/[^\s"'<>`?#\\]{1,2000})\?[^\s"'<>`\\]*/gi;

/** Takes out of entries what must not be shared: secrets, values of headers, queries of addresses, bodies of logins. */
export class SharedEntries {
  readonly #redactors: readonly Redactor[];

  constructor(redactors: readonly Redactor[]) {
    this.#redactors = redactors;
  }

  /** An entry to share; `stored` has the message of it as a value. */
  entry(detail: EntryDetail, { message }: Pick<StoredEntry, "message">, mostText: number): EntryDetail {
    const written =
      message === undefined ? { text: detail.text, cut: detail.cut } : boundedJson(this.#value(message), mostText);
    return {
      ...detail,
      summary: this.#summary(detail.summary),
      text: this.text(written.text),
      cut: written.cut,
      problems: detail.problems.map((problem) => ({
        ...problem,
        path: this.text(problem.path),
        message: this.text(problem.message),
      })),
      ...(detail.http === undefined ? {} : { http: this.#exchange(detail.http) }),
    };
  }

  /** A connection to share, as of one that has ended. */
  connection(info: ConnectionInfo): ConnectionInfo {
    const { login, ...rest } = info;
    const steps = login?.steps.map((step) => ({
      ...step,
      shown: this.text(step.shown),
      outcome: this.text(step.outcome),
    }));
    // Redaction keeps the form: members stay, and only texts and numbers under names of secrets change.
    const clean = JSON.parse(this.text(JSON.stringify(this.#value(rest)))) as ConnectionInfo;
    return { ...clean, status: "imported", ...(steps === undefined ? {} : { login: { steps } }) };
  }

  /** A text without secrets and without queries. */
  text(text: string): string {
    const clean = this.#redactors.reduce((rest, redactor) => redactor.text(rest), text);
    return clean.replace(QUERY, `$1?${REDACTED}`);
  }

  #value(value: unknown): unknown {
    return this.#redactors.reduce((rest, redactor) => redactor.value(rest), value);
  }

  #summary(summary: EntrySummary): EntrySummary {
    const { label, about } = summary;
    return { ...summary, label: this.text(label), ...(about === undefined ? {} : { about: this.text(about) }) };
  }

  #exchange(http: HttpExchange): HttpExchange {
    const { responseBody, requestBody, responseHeaders, failure } = http;
    // A metadata document is read by GET; what is posted in a login, and what answers it, are codes and tokens.
    const answered = (text: string) => (http.method === "GET" ? this.text(text) : REDACTED);
    return {
      ...http,
      url: this.text(http.url),
      requestHeaders: this.#headers(http.requestHeaders),
      ...(responseHeaders === undefined ? {} : { responseHeaders: this.#headers(responseHeaders) }),
      ...(requestBody === undefined ? {} : { requestBody: REDACTED }),
      ...(responseBody === undefined ? {} : { responseBody: answered(responseBody) }),
      ...(failure === undefined ? {} : { failure: this.text(failure) }),
    };
  }

  #headers(headers: Readonly<Record<string, string>>): Record<string, string> {
    const clean = (name: string, value: string) => (OPEN_HEADERS.has(name.toLowerCase()) ? this.text(value) : REDACTED);
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, clean(name, value)]));
  }
}
