import type { HostServer, ToolNames } from "../options.js";
import { isRecord, isReservedName } from "./config-dialect.js";
import { shownName } from "./config-problem.js";
import type { Report, TextExpander } from "./expand-text.js";

/** What a field of a server holds. Numbers are whole and above 0, except those of kind `rate`. */
export type FieldKind =
  | "text"
  | "texts"
  | "text map"
  | "flag"
  | "flag or texts"
  | "text or false"
  | "count"
  | "rate"
  | readonly string[]
  | { readonly [name: string]: Field };

/** One field: what it holds, and what editors show for it. */
export interface Field {
  readonly kind: FieldKind;
  readonly says: string;
}

type Table<T> = { readonly [K in keyof Required<T>]: Field };

const TOOL_FIELDS: Table<ToolNames> = {
  allow: { kind: "texts", says: "Only these tools are offered." },
  deny: { kind: "texts", says: "These tools are not offered." },
};

/** Every field of a server; the reader, the writer and the schema for editors all follow this table. */
export const SERVER_FIELDS: Table<HostServer> = {
  command: { kind: "text", says: "The program to start: a path, or a name that is looked up." },
  args: { kind: "texts", says: "The program's arguments." },
  env: { kind: "text map", says: "Variables for the program." },
  inheritEnv: { kind: "flag or texts", says: "Names of variables that the program inherits, or true for all." },
  cwd: { kind: "text", says: "The folder in which the program starts." },
  url: { kind: "text", says: "The address of a server that runs already." },
  headers: { kind: "text map", says: "Sent with every HTTP request." },
  transport: { kind: ["stdio", "http", "sse"], says: "How the server is reached." },
  maxMessageBytes: { kind: "count", says: "Longest message that is read, in bytes." },
  disabled: { kind: "flag", says: "Kept in the list, but not started." },
  required: { kind: "flag", says: "The host fails to start when this server does." },
  trust: {
    kind: ["trusted", "untrusted"],
    says: "Whether the annotations of its tools may decide anything.",
  },
  startMs: { kind: "count", says: "Milliseconds for starting, the handshake and the first lists." },
  callMs: { kind: "count", says: "Milliseconds for one call as a whole." },
  tools: { kind: TOOL_FIELDS, says: "Which tools are offered." },
  connections: { kind: "count", says: "Connections that share the calls." },
  concurrency: { kind: "count", says: "Calls that run at once." },
  queue: { kind: "count", says: "Calls that wait for a free place." },
  perSecond: { kind: "rate", says: "Calls that begin in a second, on average." },
  burst: { kind: "count", says: "Calls that may begin at once after a quiet time." },
  prefix: { kind: "text or false", says: "What precedes the names of its tools and prompts; false for nothing." },
  isolation: { kind: ["shared", "client"], says: "Whether all clients of a gateway share the server." },
};

/** The field of that name; undefined for others, such as `constructor`. */
export function fieldOf(name: string): Field | undefined {
  // Safe: `hasOwn` has found the name in the table.
  return Object.hasOwn(SERVER_FIELDS, name) ? SERVER_FIELDS[name as keyof HostServer] : undefined;
}

/** Tells of a problem below a server, at a path of names. */
export type ReportAt = (path: readonly string[], ...problem: Parameters<Report>) => void;

/** Arguments, variables, headers or tools of one server. */
const MAX_ITEMS = 1000;
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]{1,256}$/;

/** Reads the values of fields: checks what they hold and fills in references. Reports by path, and never with a value. */
export class FieldReader {
  /** Fills in what a text refers to. */
  readonly #text: (text: string, report: Report) => string | undefined;
  readonly #report: ReportAt;
  readonly expander: TextExpander;
  /** Whether references are filled in, in place of being kept. */
  readonly fills: boolean;

  constructor(
    text: (text: string, report: Report) => string | undefined,
    report: ReportAt,
    expander: TextExpander,
    fills: boolean,
  ) {
    this.#text = text;
    this.#report = report;
    this.expander = expander;
    this.fills = fills;
  }

  /** The value of a field of ours; undefined if it cannot be used, which has been reported. */
  read({ kind }: Field, value: unknown, path: readonly string[]): unknown {
    if (typeof kind === "string") return this.#ofKind(kind, value, path);
    if (isChoice(kind)) return this.choice(kind, value, path);
    const members = this.#record(value, path);
    const found = Object.entries(members ?? {}).flatMap(([name, member]): [string, unknown][] => {
      const field = Object.hasOwn(kind, name) ? kind[name] : undefined;
      if (field !== undefined) return [[name, this.read(field, member, [...path, name])]];
      const known = Object.keys(kind).join(", ");
      this.problem([...path, name], "warning", "the field does not exist", `Use one of: ${known}.`);
      return [];
    });
    return members === undefined ? undefined : Object.fromEntries(found.filter(([, member]) => member !== undefined));
  }

  #ofKind(kind: Extract<FieldKind, string>, value: unknown, path: readonly string[]): unknown {
    if (kind === "text") return this.text(value, path);
    if (kind === "texts") return this.texts(value, path);
    if (kind === "text map") return this.textMap(value, path);
    if (kind === "flag") return this.flag(value, path);
    if (kind === "count" || kind === "rate") return this.number(value, path, kind === "count");
    if (kind === "flag or texts") return typeof value === "boolean" ? value : this.texts(value, path);
    return value === false ? false : this.text(value, path);
  }

  text(value: unknown, path: readonly string[]): string | undefined {
    if (typeof value !== "string") return this.#wrong(path, "a text");
    const text = this.#text(value, (...problem) => this.#report(path, ...problem));
    // A program or a request could not be started with it, and the runtime's error would quote it.
    if (text?.includes("\0") !== true) return text;
    return this.problem(path, "error", "the text has a NUL character", "Remove the character.");
  }

  texts(value: unknown, path: readonly string[]): readonly string[] | undefined {
    if (!Array.isArray(value)) return this.#wrong(path, "a list of texts");
    if (value.length > MAX_ITEMS) return this.#tooMany(path);
    const found = value.map((item, at) => this.text(item, [...path, String(at)]));
    return found.every((item) => item !== undefined) ? found : undefined;
  }

  /** Variables or headers, by name. Those of programs may be numbers, and null for none. */
  textMap(
    value: unknown,
    path: readonly string[],
    each = (member: unknown, at: readonly string[]) => this.text(member, at),
  ): Readonly<Record<string, string>> | undefined {
    const record = this.#record(value, path);
    if (record === undefined) return undefined;
    const variables = path.at(-1) === "env";
    const members = Object.entries(record).filter(([, member]) => !(variables && member === null));
    if (members.length > MAX_ITEMS) return this.#tooMany(path);
    const found = members.map(([name, member]): [string, string | undefined] => {
      const at = [...path, name];
      if (!this.#isName(name, variables, at)) return [name, undefined];
      const text = each(variables && typeof member === "number" ? String(member) : member, at);
      if (variables || text === undefined || !/[\r\n]/.test(text)) return [name, text];
      return [name, this.problem(at, "error", "the header has a line break", "Remove the line break.")];
    });
    // Safe: the values that are undefined have been looked for.
    return found.every(([, text]) => text !== undefined)
      ? (Object.fromEntries(found) as Record<string, string>)
      : undefined;
  }

  flag(value: unknown, path: readonly string[]): boolean | undefined {
    return typeof value === "boolean" ? value : this.#wrong(path, "true or false");
  }

  /** A number above 0. */
  number(value: unknown, path: readonly string[], whole = false): number | undefined {
    const fits = typeof value === "number" && value > 0 && Number.isFinite(value);
    if (fits && (!whole || Number.isSafeInteger(value))) return value;
    return this.#wrong(path, whole ? "a whole number above 0" : "a number above 0");
  }

  choice(among: readonly string[], value: unknown, path: readonly string[]): string | undefined {
    const found = among.find((one) => one === value);
    return found ?? this.#wrong(path, `one of ${among.map((one) => `"${one}"`).join(", ")}`);
  }

  /** Reports, and gives nothing. */
  problem(path: readonly string[], ...problem: Parameters<Report>): undefined {
    this.#report(path, ...problem);
  }

  #record(value: unknown, path: readonly string[]): Readonly<Record<string, unknown>> | undefined {
    return isRecord(value) ? value : this.#wrong(path, "an object");
  }

  #isName(name: string, variables: boolean, path: readonly string[]): boolean {
    const fits = variables ? /^[^=\0]{1,1024}$/.test(name) : HEADER_NAME.test(name);
    if (fits && !isReservedName(name)) return true;
    const what = variables ? "a variable" : "a header";
    this.problem(path, "error", `"${shownName(name)}" cannot be the name of ${what}`, "Remove it, or rename it.");
    return false;
  }

  #wrong(path: readonly string[], expected: string): undefined {
    this.problem(path, "error", `the value must be ${expected}`, `Write ${expected}.`);
  }

  #tooMany(path: readonly string[]): undefined {
    this.problem(path, "error", `there are more than ${MAX_ITEMS} entries (MAX_ITEMS)`, "Remove some.");
  }
}

function isChoice(kind: FieldKind): kind is readonly string[] {
  return Array.isArray(kind);
}
