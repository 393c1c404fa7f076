import type { HostServer, ToolNames } from "./host-server.js";

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
