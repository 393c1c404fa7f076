import type { KeyValue } from "../../../../storage/storage.js";

/** A position in one stream of one session. */
export interface EventPosition {
  readonly stream: string;
  /** The id in the log of the last event that the client has; 0 is the position before the first one. */
  readonly after: number;
  /** True for the event that ended its stream. */
  readonly last: boolean;
}

/**
 * The id of one event. It includes its stream, so that a client that reconnects finds the right one; it need not be
 * secret, because streams are looked up within their session.
 */
export function eventId(stream: string, id: number, last = false): string {
  return last ? `${stream}.${id}.last` : `${stream}.${id}`;
}

/** Parses an event id; undefined for anything that `eventId` does not return. */
export function parseEventId(value: string): EventPosition | undefined {
  const [, stream, digits, last] = /^([\w-]{1,32})\.(0|[1-9]\d{0,15})(\.last)?$/.exec(value) ?? [];
  const after = Number(digits);
  return stream === undefined || !Number.isSafeInteger(after) ? undefined : { stream, after, last: last !== undefined };
}

/** The id of the first GET stream. It stores messages that belong to no request until the client reads them. */
export const GET_STREAM_ID = "s";

/** The length of a node's id, with which the ids of its streams begin. */
export const NODE_ID_LENGTH = 12;
const SALT_LENGTH = 4;
/** How many streams a node announces at once, so that most sessions announce them once. */
const FIRST_BOUND = 8;
const MAX_TRIALS = 16;

/** The node that writes a stream; undefined for the first GET stream, which all of them write. */
export function nodeOf(stream: string): string | undefined {
  return stream[NODE_ID_LENGTH] === "-" ? stream.slice(0, NODE_ID_LENGTH) : undefined;
}

/**
 * The ids of the streams that this node opens for one session. They are numbers after the node's id, used again once the log of an
 * earlier stream is gone; so the highest number of each node tells which logs a session has, wherever it is ended.
 */
export class StreamNumbers {
  readonly #free: number[] = [];
  #next = 0;
  /** The streams below this number are announced in the storage. */
  #bound = 0;

  /** The next id; calls `announce` if the storage has to know of more streams. */
  take(node: string, session: string, announce: (bound: number) => void): string {
    const number = this.#free.pop() ?? this.#next++;
    if (number >= this.#bound) {
      this.#bound = Math.max(FIRST_BOUND, this.#bound * 4);
      announce(this.#bound);
    }
    return idOf(node, session, number);
  }

  /** The log of a stream is gone. */
  free(stream: string): void {
    this.#free.push(Number.parseInt(stream.slice(NODE_ID_LENGTH + 1 + SALT_LENGTH), 36));
  }
}

/** Writes how many streams a node has opened for a session. */
export async function announceStreams(
  kv: KeyValue,
  key: string,
  node: string,
  bound: number,
  ttlMs: number,
): Promise<void> {
  for (let trial = 0; trial < MAX_TRIALS; trial++) {
    const stored = await kv.get(key);
    const value = JSON.stringify({ ...decode(stored?.value), [node]: bound });
    if ((await kv.set(key, value, { ttlMs, ifVersion: stored?.version ?? 0 })) !== undefined) return;
  }
}

/** The ids of all streams that nodes have announced. */
export async function announcedStreams(kv: KeyValue, key: string, session: string): Promise<string[]> {
  const bounds = Object.entries(decode((await kv.get(key))?.value));
  return bounds.flatMap(([node, bound]) => Array.from({ length: bound }, (_, number) => idOf(node, session, number)));
}

/** Has a part of the session's id too, so that an event id of one session is none of another. */
function idOf(node: string, session: string, number: number): string {
  return `${node}-${session.slice(-SALT_LENGTH)}${number.toString(36)}`;
}

/** Trusts its input, because only our nodes write there. */
function decode(text: string | undefined): Record<string, number> {
  return text === undefined ? {} : (JSON.parse(text) as Record<string, number>);
}
