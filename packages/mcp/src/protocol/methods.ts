import { McpError } from "./error.js";
import { isWithin, type Revision } from "./revisions.js";

/** Everything that the library knows about one method. All other lists of methods are derived from these rows. */
export interface MethodRow {
  method: string;
  kind: "request" | "notification";
  sender: "client" | "server" | "both";
  first: Revision;
  last?: Revision;
  /** From this revision on, the request is sent only inside an `input_required` result. */
  embeddedFrom?: Revision;
  /** The receiver's capability that the method needs, as a path such as `resources.subscribe`. */
  capability?: string;
  /** The parameter that names the tool, prompt or resource; it is repeated in the `Mcp-Name` header. */
  nameField?: string;
  /** The handler may ask the client questions before it answers. */
  mayAsk?: boolean;
  /** The result carries `ttlMs` and `cacheScope`. */
  cacheable?: boolean;
  /** Safe to send again if it is unknown whether it ran. */
  idempotent?: boolean;
  /** False for `initialize`, which must not be cancelled. */
  cancellable?: boolean;
  opensSession?: boolean;
  /** The result has no members of its own; `null` in its place, as some servers send it, means the same. */
  emptyResult?: boolean;
  /** Runs until either side ends it, so ordinary deadlines do not apply. */
  deadlineExempt?: boolean;
}

const ALL = "2024-11-05";
const LAST_STATEFUL = "2025-11-25";
const STATELESS = "2026-07-28";

function fromClient(method: string, rest: Partial<MethodRow> = {}): MethodRow {
  return { method, kind: "request", sender: "client", first: ALL, ...rest };
}

function fromServer(method: string, rest: Partial<MethodRow> = {}): MethodRow {
  return { method, kind: "request", sender: "server", first: ALL, embeddedFrom: STATELESS, ...rest };
}

function notice(method: string, sender: MethodRow["sender"], rest: Partial<MethodRow> = {}): MethodRow {
  return { method, kind: "notification", sender, first: ALL, ...rest };
}

const acknowledged = { last: LAST_STATEFUL, idempotent: true, emptyResult: true } as const;
const list = { cacheable: true, idempotent: true } as const;

/** One row per method of the core protocol. */
export const CORE_METHODS: readonly MethodRow[] = [
  fromClient("initialize", { last: LAST_STATEFUL, opensSession: true, cancellable: false }),
  fromClient("server/discover", { first: STATELESS, ...list }),
  { method: "ping", kind: "request", sender: "both", first: ALL, ...acknowledged },
  fromClient("tools/list", { capability: "tools", ...list }),
  fromClient("tools/call", { capability: "tools", nameField: "name", mayAsk: true }),
  fromClient("resources/list", { capability: "resources", ...list }),
  fromClient("resources/templates/list", { capability: "resources", ...list }),
  fromClient("resources/read", { capability: "resources", nameField: "uri", mayAsk: true, ...list }),
  fromClient("resources/subscribe", { capability: "resources.subscribe", ...acknowledged }),
  fromClient("resources/unsubscribe", { capability: "resources.subscribe", ...acknowledged }),
  fromClient("subscriptions/listen", { first: STATELESS, deadlineExempt: true }),
  fromClient("prompts/list", { capability: "prompts", ...list }),
  fromClient("prompts/get", { capability: "prompts", nameField: "name", mayAsk: true, idempotent: true }),
  fromClient("completion/complete", { capability: "completions", idempotent: true }),
  fromClient("logging/setLevel", { capability: "logging", ...acknowledged }),
  fromServer("sampling/createMessage", { capability: "sampling" }),
  fromServer("roots/list", { capability: "roots", idempotent: true }),
  fromServer("elicitation/create", { first: "2025-06-18", capability: "elicitation" }),
  notice("notifications/initialized", "client", { last: LAST_STATEFUL }),
  notice("notifications/cancelled", "both"),
  notice("notifications/progress", "both"),
  notice("notifications/message", "server", { capability: "logging" }),
  notice("notifications/tools/list_changed", "server", { capability: "tools.listChanged" }),
  notice("notifications/prompts/list_changed", "server", { capability: "prompts.listChanged" }),
  notice("notifications/resources/list_changed", "server", { capability: "resources.listChanged" }),
  notice("notifications/resources/updated", "server", { capability: "resources.subscribe" }),
  notice("notifications/roots/list_changed", "client", { last: LAST_STATEFUL }),
  notice("notifications/elicitation/complete", "server", { first: LAST_STATEFUL, last: LAST_STATEFUL }),
  notice("notifications/subscriptions/acknowledged", "server", { first: STATELESS }),
];

/** The methods of one server or client: the core's and its extensions'. */
export class MethodTable {
  readonly #rows = new Map<string, MethodRow>();

  constructor(extensions: readonly MethodRow[] = []) {
    for (const row of CORE_METHODS) this.#rows.set(row.method, row);
    for (const row of extensions) {
      if (this.#rows.has(row.method)) {
        throw new McpError("invalid_definition", `the method "${row.method}" is defined twice`);
      }
      this.#rows.set(row.method, row);
    }
  }

  /** Adds a request of clients that no extension lists, in every revision, unless it is known. */
  addRequest(method: string): void {
    if (!this.#rows.has(method)) this.#rows.set(method, fromClient(method));
  }

  /** The row of a method in any revision. */
  get(method: string): MethodRow | undefined {
    return this.#rows.get(method);
  }

  /** The row of a method that this revision has as a separate message. */
  at(method: string, revision: Revision): MethodRow | undefined {
    const row = this.#rows.get(method);
    if (row === undefined || !isWithin(revision, row.first, row.last)) return undefined;
    return row.embeddedFrom !== undefined && revision >= row.embeddedFrom ? undefined : row;
  }

  rows(): Iterable<MethodRow> {
    return this.#rows.values();
  }
}

/** The table without extensions. */
export const CORE_TABLE = /* @__PURE__ */ new MethodTable();

/** Whether servers send requests in this revision. */
export function serverAsks(methods: MethodTable, revision: Revision): boolean {
  for (const { method, kind, sender } of methods.rows()) {
    if (kind === "request" && sender !== "client" && methods.at(method, revision) !== undefined) return true;
  }
  return false;
}
