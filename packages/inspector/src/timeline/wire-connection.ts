import { isRevision, META, type Revision } from "@parley/mcp/protocol";
import { HANDSHAKE_METHODS } from "../contract/timeline.js";
import { type AnyMessage, idOf, type MessageInfo, objectIn, PROBE_METHOD } from "./message-info.js";

/** Maximum number of open requests per connection. Beyond it, the oldest are dropped. */
const MAX_OPEN_REQUESTS = 10_000;
/**
 * Maximum number of requests, progress tokens and tasks for which a connection stores the call. Beyond it, the oldest
 * are dropped.
 */
const MAX_RELATED = 5_000;

/** A request without an answer. */
export interface OpenRequest {
  readonly seq: number;
  readonly ms: number;
  readonly method: string;
  readonly about: string | undefined;
  readonly call: string | undefined;
  readonly revision: Revision | undefined;
  readonly isProbe: boolean;
}

/** A message of a connection, with its direction. */
export interface ObservedMessage {
  readonly direction: "sent" | "received";
  readonly message: AnyMessage;
  readonly info: MessageInfo;
  /** The id of the request on whose stream the message arrived. */
  readonly about: string | number | undefined;
}

/**
 * The state of one connection to a server: its open requests, the calls that they belong to, and its revision. Message
 * ids are unique within one connection to a server.
 */
export class WireConnection {
  readonly number: number;
  readonly #open = new Map<string, OpenRequest>();
  /** Calls by the requests, progress tokens and tasks that belong to them. */
  readonly #calls = new Map<string, string>();
  #revision: Revision | undefined;
  /** True after a revision was negotiated, or after the client sent a request that requires a negotiated revision. */
  #isOpen = false;

  constructor(number: number) {
    this.number = number;
  }

  /** Returns the request that a message answers, and removes it from the open requests. */
  closeRequest({ direction, info }: ObservedMessage): OpenRequest | undefined {
    if (info.kind === "request" || info.kind === "notification" || info.id === undefined) return undefined;
    const key = keyOf(direction === "sent" ? "received" : "sent", info.id);
    const open = this.#open.get(key);
    this.#open.delete(key);
    if (info.kind === "result" && open !== undefined && HANDSHAKE_METHODS.has(open.method)) this.#isOpen = true;
    return open;
  }

  /** True if a message is a probe, which the client sends before it negotiates a revision. */
  isProbe({ direction, info }: ObservedMessage): boolean {
    return direction === "sent" && info.kind === "request" && info.method === PROBE_METHOD && !this.#isOpen;
  }

  /** Stores a request, to pair it with its answer and with later messages. */
  addRequest({ direction, info, message }: ObservedMessage, open: OpenRequest): void {
    if (info.id === undefined) return;
    if (direction === "sent" && !HANDSHAKE_METHODS.has(open.method)) this.#isOpen = true;
    setBounded(this.#open, keyOf(direction, info.id), open, MAX_OPEN_REQUESTS);
    if (open.call === undefined) return;
    this.#relate(keyOf(direction, info.id), open.call);
    const token = idOf(objectIn(objectIn(message, "params"), "_meta")?.["progressToken"]);
    if (token !== undefined) this.#relate(keyOf("token", token), open.call);
  }

  /** Assigns a task to the call whose result created it. */
  addTask(message: AnyMessage, call: string): void {
    const result = objectIn(message, "result");
    const id = idOf(result?.["taskId"]) ?? idOf(objectIn(result, "task")?.["taskId"]);
    if (id !== undefined) this.#relate(keyOf("task", id), call);
  }

  /** Returns the call of a request or notification, if the message identifies the call. */
  callOf({ direction, message, about }: ObservedMessage): string | undefined {
    const params = objectIn(message, "params");
    const related = objectIn(objectIn(params, "_meta"), META.relatedTask);
    const keys = [
      direction === "received" && about !== undefined ? keyOf("sent", about) : undefined,
      optionalKey("token", params?.["progressToken"]),
      optionalKey(direction, params?.["requestId"]),
      optionalKey("task", params?.["taskId"]),
      optionalKey("task", related?.["taskId"]),
    ];
    for (const key of keys) {
      const call = key === undefined ? undefined : this.#calls.get(key);
      if (call !== undefined) return call;
    }
    return undefined;
  }

  /**
   * Returns the revision of a message: the revision that the message names, that of the request it answers, or the last
   * revision that was named on the connection.
   */
  revisionOf({ message, info }: ObservedMessage, answers: OpenRequest | undefined): Revision | undefined {
    const params = objectIn(message, "params");
    const agreed = info.kind === "result" ? objectIn(message, "result")?.["protocolVersion"] : undefined;
    const named = objectIn(params, "_meta")?.[META.protocolVersion] ?? params?.["protocolVersion"] ?? agreed;
    if (!isRevision(named)) return answers?.revision ?? this.#revision;
    this.#revision = named;
    return named;
  }

  #relate(key: string, call: string): void {
    setBounded(this.#calls, key, call, MAX_RELATED);
  }
}

function setBounded<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  // Reinserted at the end, so that the first key is the oldest.
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** Returns a key that distinguishes the ids `1` and `"1"`. */
function keyOf(scope: string, id: string | number): string {
  return `${scope} ${typeof id} ${id}`;
}

function optionalKey(scope: string, value: unknown): string | undefined {
  const id = idOf(value);
  return id === undefined ? undefined : keyOf(scope, id);
}
