import { McpError } from "./error.js";
import { isWithin, type Revision } from "./revisions.js";

/** The properties of one method. All other lists of methods are derived from these rows. */
export interface MethodRow {
  /** The JSON-RPC method, for example `tools/call`. */
  method: string;
  /** A request has a response, a notification has none. */
  kind: "request" | "notification";
  /** The side that sends the message. */
  sender: "client" | "server" | "both";
  /** The first revision that has the method. */
  first: Revision;
  /** The last revision that has the method. Default: the newest. */
  last?: Revision;
  /** The first revision in which the request exists only inside an `input_required` result. */
  embeddedFrom?: Revision;
  /** The receiver's capability that the method requires, as a path such as `resources.subscribe`. */
  capability?: string;
  /** The parameter that names the tool, prompt, resource or task. The `Mcp-Name` header repeats its value. */
  nameField?: string;
  /** True if the handler may send questions to the client before it answers. */
  mayAsk?: boolean;
  /** True if the result carries `ttlMs` and `cacheScope`. */
  cacheable?: boolean;
  /** True if the request is safe to repeat when it is unknown whether it ran. */
  idempotent?: boolean;
  /** False for `initialize`, which must not be cancelled. Default: true. */
  cancellable?: boolean;
  /** True for the request that opens a session. */
  opensSession?: boolean;
  /** True if the result has no members. The client then also accepts `null`, which some servers send. */
  emptyResult?: boolean;
  /** True for a request that runs until either side ends it, so ordinary deadlines do not apply. */
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

function notification(method: string, sender: MethodRow["sender"], rest: Partial<MethodRow> = {}): MethodRow {
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
  notification("notifications/initialized", "client", { last: LAST_STATEFUL }),
  notification("notifications/cancelled", "both"),
  notification("notifications/progress", "both"),
  notification("notifications/message", "server", { capability: "logging" }),
  notification("notifications/tools/list_changed", "server", { capability: "tools.listChanged" }),
  notification("notifications/prompts/list_changed", "server", { capability: "prompts.listChanged" }),
  notification("notifications/resources/list_changed", "server", { capability: "resources.listChanged" }),
  notification("notifications/resources/updated", "server", { capability: "resources.subscribe" }),
  notification("notifications/roots/list_changed", "client", { last: LAST_STATEFUL }),
  notification("notifications/elicitation/complete", "server", { first: LAST_STATEFUL, last: LAST_STATEFUL }),
  notification("notifications/subscriptions/acknowledged", "server", { first: STATELESS }),
];

/** The methods of one server or client: those of the core and of its extensions. */
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

  /** Adds a client request that no extension declares, in every revision. Does nothing if the method exists. */
  addRequest(method: string): void {
    if (!this.#rows.has(method)) this.#rows.set(method, fromClient(method));
  }

  /** The row of a method in any revision. Undefined for an unknown method. */
  get(method: string): MethodRow | undefined {
    return this.#rows.get(method);
  }

  /**
   * The row of a method that is a separate message in this revision. Undefined if the revision lacks the method or has
   * it only inside an `input_required` result.
   */
  at(method: string, revision: Revision): MethodRow | undefined {
    const row = this.#rows.get(method);
    if (row === undefined || !isWithin(revision, row.first, row.last)) return undefined;
    return row.embeddedFrom !== undefined && revision >= row.embeddedFrom ? undefined : row;
  }

  /** All rows: the core first, then extensions in the order of registration. */
  rows(): Iterable<MethodRow> {
    return this.#rows.values();
  }
}

/** The table without extensions. */
export const CORE_TABLE = /* @__PURE__ */ new MethodTable();

/** True if servers can send requests in this revision. */
export function serverAsks(methods: MethodTable, revision: Revision): boolean {
  for (const { method, kind, sender } of methods.rows()) {
    if (kind === "request" && sender !== "client" && methods.at(method, revision) !== undefined) return true;
  }
  return false;
}
