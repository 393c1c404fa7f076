import { isRevision, META, type Revision } from "@parley/mcp/protocol";
import { HANDSHAKE_METHODS } from "../contract/timeline.js";
import { type AnyMessage, idOf, type MessageFacts, objectIn, PROBE_METHOD } from "./message-facts.js";

/** Requests of one connection that wait for their answer; the oldest are given up first. */
const MOST_OPEN = 10_000;
/** Requests, tokens and tasks of one connection of which the call is remembered. */
const MOST_RELATED = 5_000;

/** A request that waits for its answer. */
export interface OpenRequest {
  readonly seq: number;
  readonly ms: number;
  readonly method: string;
  readonly about: string | undefined;
  readonly call: string | undefined;
  readonly revision: Revision | undefined;
  readonly isProbe: boolean;
}

/** A message of one connection, and who sent it. */
export interface PassedMessage {
  readonly direction: "sent" | "received";
  readonly message: AnyMessage;
  readonly facts: MessageFacts;
  /** The request on whose stream it arrived. */
  readonly about: string | number | undefined;
}

/** What is known of one connection to a server, whose ids are its own: open requests, the calls they belong to, the revision. */
export class WireConnection {
  readonly number: number;
  readonly #open = new Map<string, OpenRequest>();
  /** Calls by the requests, progress tokens and tasks that belong to them. */
  readonly #calls = new Map<string, string>();
  #revision: Revision | undefined;
  /** The two sides agreed on a revision, or the client sent what it sends only then. */
  #isOpen = false;

  constructor(number: number) {
    this.number = number;
  }

  /** The request that a message answers; it is no longer open afterwards. */
  answered({ direction, facts }: PassedMessage): OpenRequest | undefined {
    if (facts.kind === "request" || facts.kind === "notification" || facts.id === undefined) return undefined;
    const key = keyOf(direction === "sent" ? "received" : "sent", facts.id);
    const open = this.#open.get(key);
    this.#open.delete(key);
    if (facts.kind === "result" && open !== undefined && HANDSHAKE_METHODS.has(open.method)) this.#isOpen = true;
    return open;
  }

  /** Whether a message is a probe that the client sends by itself, before anything else. */
  isProbe({ direction, facts }: PassedMessage): boolean {
    return direction === "sent" && facts.kind === "request" && facts.method === PROBE_METHOD && !this.#isOpen;
  }

  /** Remembers a request, and what its answer and later messages have to do with it. */
  noteRequest({ direction, facts, message }: PassedMessage, open: OpenRequest): void {
    if (facts.id === undefined) return;
    if (direction === "sent" && !HANDSHAKE_METHODS.has(open.method)) this.#isOpen = true;
    remember(this.#open, keyOf(direction, facts.id), open, MOST_OPEN);
    if (open.call === undefined) return;
    this.#relate(keyOf(direction, facts.id), open.call);
    const token = idOf(objectIn(objectIn(message, "params"), "_meta")?.["progressToken"]);
    if (token !== undefined) this.#relate(keyOf("token", token), open.call);
  }

  /** A task that a result began belongs to the call of its request. */
  noteTask(message: AnyMessage, call: string): void {
    const result = objectIn(message, "result");
    const id = idOf(result?.["taskId"]) ?? idOf(objectIn(result, "task")?.["taskId"]);
    if (id !== undefined) this.#relate(keyOf("task", id), call);
  }

  /** The call that a request or notification belongs to, as far as the message itself tells. */
  callOf({ direction, message, about }: PassedMessage): string | undefined {
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

  /** The revision that a message is in: what it says itself, that of its request, or that of the handshake. */
  revisionOf({ message, facts }: PassedMessage, answers: OpenRequest | undefined): Revision | undefined {
    const params = objectIn(message, "params");
    const agreed = facts.kind === "result" ? objectIn(message, "result")?.["protocolVersion"] : undefined;
    const named = objectIn(params, "_meta")?.[META.protocolVersion] ?? params?.["protocolVersion"] ?? agreed;
    if (!isRevision(named)) return answers?.revision ?? this.#revision;
    this.#revision = named;
    return named;
  }

  #relate(key: string, call: string): void {
    remember(this.#calls, key, call, MOST_RELATED);
  }
}

function remember<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  // Once more at the end, so that the first is the oldest.
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** `1` and `"1"` are two ids. */
function keyOf(room: string, id: string | number): string {
  return `${room} ${typeof id} ${id}`;
}

function optionalKey(room: string, value: unknown): string | undefined {
  const id = idOf(value);
  return id === undefined ? undefined : keyOf(room, id);
}
