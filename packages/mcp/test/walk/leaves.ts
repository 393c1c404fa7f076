/** A helper that stands apart in the walk. */
export interface Leaf {
  /** A file below `src/`, or a folder with its slash. */
  readonly path: string;
  readonly kind: "guard" | "schema" | "table" | "header value" | "platform" | "encoding" | "storage";
  readonly reason: string;
  /** Calls a function that it is given, as `then` does: what that function enters is its maker's walk. */
  readonly callsBack?: true;
}

/**
 * A leaf knows nothing of the call, returns at once and calls nothing of the spine; a walk that sees one break this says
 * so. What decides, waits, routes, counts or keeps something for the call is spine, however small it is.
 */
export const LEAVES: readonly Leaf[] = [
  { path: "encoding/", kind: "encoding", reason: "texts and bytes, without a word of any protocol" },
  {
    path: "encoding/maybe-promise.ts",
    kind: "encoding",
    reason: "`then` for what may be there already",
    callsBack: true,
  },
  { path: "jsonrpc/message.ts", kind: "encoding", reason: "text to message and back, and guards of JSON values" },
  { path: "jsonrpc/envelope.ts", kind: "encoding", reason: "the members of a message's envelope, found in its text" },
  { path: "schema/", kind: "schema", reason: "a value in, a value or issues out" },
  { path: "protocol/", kind: "table", reason: "what the specification says: tables, and checks of shapes" },
  {
    path: "platform/",
    kind: "platform",
    reason: "clock, timers, randomness, hooks of the application",
    callsBack: true,
  },
  {
    path: "node/rejection-guard.ts",
    kind: "platform",
    reason: "a listener of the process, there from the first time on",
  },
  { path: "node/platform.ts", kind: "platform", reason: "clock, timers, randomness, as Node has them" },
  { path: "storage/", kind: "storage", reason: "values by key, behind the seam of storage; here in memory" },
  { path: "era/session.ts", kind: "table", reason: "what revisions say of sessions, looked up" },
  { path: "era/notification.ts", kind: "encoding", reason: "a notification's envelope as text" },
  { path: "era/task-shape.ts", kind: "guard", reason: "a task as the other side sent it, checked" },
  {
    path: "extensions/tasks/stored/task-record.ts",
    kind: "storage",
    reason: "the record of a task in, a record or what clients see of it out",
  },
  { path: "era/select/task-dialect.ts", kind: "table", reason: "what a revision says of tasks, looked up" },
  { path: "era/question.ts", kind: "encoding", reason: "a question or its answer in the form of a revision" },
  { path: "era/stateful/downgrade.ts", kind: "encoding", reason: "a result in the form of an older revision" },
  { path: "era/header-value.ts", kind: "header value", reason: "one header's value to text and back" },
  { path: "http/protocol-headers.ts", kind: "header value", reason: "headers of one request or reply, read once" },
  { path: "transport/framing/sse-encode.ts", kind: "encoding", reason: "one event as text" },
  { path: "transport/http/session/nodes/records.ts", kind: "encoding", reason: "a session's names and record as text" },
  { path: "transport/http/server/body-type.ts", kind: "header value", reason: "reads `Content-Type` and `Accept`" },
  { path: "transport/http/server/origin.ts", kind: "guard", reason: "whether a `Host` or `Origin` value may pass" },
  {
    path: "server/call/input-required.ts",
    kind: "guard",
    reason: "the error of a question without answer, recognised",
  },
  { path: "server/tools/unknown-arguments.ts", kind: "schema", reason: "arguments in, those that no schema names out" },
  {
    path: "client/features/tool-value.ts",
    kind: "encoding",
    reason: "a tool's result in, its value out",
    callsBack: true,
  },
];

/** The most exact entry that names a file. */
export function leafOf(file: string): Leaf | undefined {
  const named = LEAVES.filter(({ path }) => (path.endsWith("/") ? file.startsWith(path) : file === path));
  return named.toSorted((a, b) => b.path.length - a.path.length)[0];
}
