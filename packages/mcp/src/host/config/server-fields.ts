import type { HostServer, ToolNames } from "../options.js";
import { isRecord, isReservedName } from "./config-dialect.js";
import { shownName } from "./config-problem.js";
import type { Report, TextExpander } from "./expand-text.js";

/**
 * The kind of value that a field of a server has. Numbers are above 0: a `count` is an integer, a `rate` may be a
 * fraction.
 */
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

/** One field: the kind of its value, and the description that editors show. */
export interface Field {
  readonly kind: FieldKind;
  readonly description: string;
}

type Table<T> = { readonly [K in keyof Required<T>]: Field };

const TOOL_FIELDS: Table<ToolNames> = {
  allow: { kind: "texts", description: "Offer only these tools." },
  deny: { kind: "texts", description: "Do not offer these tools." },
};

/** Every field of a server. The reader, the writer and the schema for editors all use this table. */
export const SERVER_FIELDS: Table<HostServer> = {
  command: { kind: "text", description: "The program to start: a path, or a name that is searched for in PATH." },
  args: { kind: "texts", description: "Arguments of the program." },
  env: { kind: "text map", description: "Environment variables of the program." },
  inheritEnv: {
    kind: "flag or texts",
    description: "Names of environment variables that the program inherits, or true for all.",
  },
  cwd: { kind: "text", description: "The working directory of the program." },
  url: { kind: "text", description: "The URL of a server that is already running." },
  headers: { kind: "text map", description: "HTTP headers that are sent with every request." },
  transport: { kind: ["stdio", "http", "sse"], description: "The transport that connects to the server." },
  maxMessageBytes: { kind: "count", description: "The largest accepted message, in bytes." },
  disabled: { kind: "flag", description: "True to keep the server in the list without starting it." },
  required: { kind: "flag", description: "True if the host must not start without this server." },
  trust: {
    kind: ["trusted", "untrusted"],
    description: "`trusted` if the host may rely on the annotations of its tools.",
  },
  startMs: { kind: "count", description: "Maximum time to start, connect and fetch the first lists, in milliseconds." },
  callMs: { kind: "count", description: "Maximum time of one call, in milliseconds." },
  tools: { kind: TOOL_FIELDS, description: "Tools to offer or to hide." },
  connections: { kind: "count", description: "Number of connections that share the calls." },
  concurrency: { kind: "count", description: "Maximum number of calls that run at the same time." },
  queue: { kind: "count", description: "Maximum number of calls that wait for a free slot." },
  perSecond: { kind: "rate", description: "Average number of calls that may begin per second." },
  burst: { kind: "count", description: "Number of calls that may begin at once after a pause." },
  prefix: { kind: "text or false", description: "The prefix of its tools and prompts; false for none." },
  isolation: {
    kind: ["shared", "client"],
    description: "`shared`: all clients of a gateway use the same server. `client`: each client has its own.",
  },
};

/** The field with this name; undefined for other names, such as `constructor`. */
export function fieldOf(name: string): Field | undefined {
  // Safe: `hasOwn` has found the name in the table.
  return Object.hasOwn(SERVER_FIELDS, name) ? SERVER_FIELDS[name as keyof HostServer] : undefined;
}

/** Reports a problem at a path below a server. */
export type ReportAt = (path: readonly string[], ...problem: Parameters<Report>) => void;

/**
 * Maximum number of entries in one list or map of a server, such as arguments or headers. More entries are an error.
 */
const MAX_ITEMS = 1000;
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]{1,256}$/;

/**
 * Reads the values of fields: checks their types and fills in references. Problems contain the path of a field, never
 * its value.
 */
export class FieldReader {
  /** Fills in the references of a string. */
  readonly #text: (text: string, report: Report) => string | undefined;
  readonly #report: ReportAt;
  readonly expander: TextExpander;
  /** True if references are filled in; false if they are kept. */
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

  /** Reads a field of our own form. Undefined if the value cannot be used; the problem has been reported. */
  read({ kind }: Field, value: unknown, path: readonly string[]): unknown {
    if (typeof kind === "string") return this.#ofKind(kind, value, path);
    if (isChoice(kind)) return this.choice(kind, value, path);
    const members = this.#record(value, path);
    const found = Object.entries(members ?? {}).flatMap(([name, member]): [string, unknown][] => {
      const field = Object.hasOwn(kind, name) ? kind[name] : undefined;
      if (field !== undefined) return [[name, this.read(field, member, [...path, name])]];
      const known = Object.keys(kind).join(", ");
      this.problem([...path, name], "warning", "the field is unknown", `Use one of: ${known}.`);
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
    if (typeof value !== "string") return this.#wrong(path, "a string");
    const text = this.#text(value, (...problem) => this.#report(path, ...problem));
    // With a NUL character, starting the program or sending the request would fail, and the runtime's error would quote
    // the value.
    if (text?.includes("\0") !== true) return text;
    return this.problem(path, "error", "the string contains a NUL character", "Remove the character.");
  }

  texts(value: unknown, path: readonly string[]): readonly string[] | undefined {
    if (!Array.isArray(value)) return this.#wrong(path, "a list of strings");
    if (value.length > MAX_ITEMS) return this.#tooMany(path);
    const found = value.map((item, at) => this.text(item, [...path, String(at)]));
    return found.every((item) => item !== undefined) ? found : undefined;
  }

  /**
   * Reads variables or headers by name. The value of a variable may also be a number, or null to leave the variable
   * out.
   */
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
      return [name, this.problem(at, "error", "the header contains a line break", "Remove the line break.")];
    });
    // Safe: the condition excludes undefined values.
    return found.every(([, text]) => text !== undefined)
      ? (Object.fromEntries(found) as Record<string, string>)
      : undefined;
  }

  flag(value: unknown, path: readonly string[]): boolean | undefined {
    return typeof value === "boolean" ? value : this.#wrong(path, "true or false");
  }

  /** Reads a number above 0. */
  number(value: unknown, path: readonly string[], whole = false): number | undefined {
    const fits = typeof value === "number" && value > 0 && Number.isFinite(value);
    if (fits && (!whole || Number.isSafeInteger(value))) return value;
    return this.#wrong(path, whole ? "a whole number above 0" : "a number above 0");
  }

  choice(among: readonly string[], value: unknown, path: readonly string[]): string | undefined {
    const found = among.find((one) => one === value);
    return found ?? this.#wrong(path, `one of ${among.map((one) => `"${one}"`).join(", ")}`);
  }

  /** Reports a problem and returns undefined. */
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
    this.problem(path, "error", `"${shownName(name)}" is not a valid name of ${what}`, "Remove it, or rename it.");
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
