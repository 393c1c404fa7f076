import { type Id, isObject } from "../../../jsonrpc/message.js";
import { NODE_ID_LENGTH } from "./nodes/session-streams.js";

/**
 * The entries of a stream's log. Each begins with a letter: an event without data that names the requests of the stream, the same
 * without an event, a message, a message after the id of the node that wrote it, the last message, and an end without a message.
 * One more letter before them says that entries were lost at this point.
 */
const PRIMING = "p";
const OPENED = "o";
const MESSAGE = "m";
const SIGNED = "n";
const LAST = "e";
const END = "x";
const AFTER_GAP = "g";

/** The first entry of a reply: which requests it answers. `primes`: the client gets an event without data for it. */
export function openingEntry(primes: boolean, requests: readonly Id[]): string {
  return (primes ? PRIMING : OPENED) + JSON.stringify(requests);
}

/** An event without data, which gives the client an id to resume from. */
export const PRIMING_ENTRY = PRIMING;

/** `writer`: the node that writes it, where several may. */
export function messageEntry(text: string, writer?: string): string {
  return writer === undefined ? MESSAGE + text : SIGNED + writer + text;
}

/** The node that wrote a message, where several may. */
export function writerOf(entry: string): string | undefined {
  return entry[0] === SIGNED ? entry.slice(1, 1 + NODE_ID_LENGTH) : undefined;
}

export function lastEntry(text: string | undefined): string {
  return text === undefined ? END : LAST + text;
}

export function isLast(entry: string): boolean {
  return entry === END || entry[0] === LAST;
}

/** The data of the event for an entry; undefined if there is none. */
export function dataOf(entry: string): string | undefined {
  const kind = entry[0];
  if (kind === SIGNED) return entry.slice(1 + NODE_ID_LENGTH);
  if (kind === MESSAGE || kind === LAST) return entry.slice(1);
  return kind === PRIMING ? "" : undefined;
}

/** Whether a reader who lacks the entry lacks nothing. */
export function isSilent(entry: string): boolean {
  return entry[0] === PRIMING || entry[0] === OPENED;
}

/** Marks the first entry after some that could not be stored. */
export function afterGap(entry: string): string {
  return AFTER_GAP + entry;
}

/** Whether entries before this one were lost. */
export function followsGap(entry: string): boolean {
  return entry[0] === AFTER_GAP;
}

/** The entry without the mark of a gap. */
export function withoutGap(entry: string): string {
  return followsGap(entry) ? entry.slice(1) : entry;
}

/** Those of some requests that the message of an entry does not answer. Trusts its input, because only our nodes write there. */
export function notAnsweredBy(entry: string, requests: Id[]): Id[] {
  const text = dataOf(entry);
  if (requests.length === 0 || text === undefined || text === "") return requests;
  const message: unknown = JSON.parse(text);
  if (!isObject(message) || !("result" in message || "error" in message)) return requests;
  return requests.filter((id) => id !== message["id"]);
}

/** The requests that an opening entry names; undefined for other entries. Trusts its input, because only our nodes write there. */
export function requestsOf(entry: string): Id[] | undefined {
  return isSilent(entry) && entry.length > 1 ? (JSON.parse(entry.slice(1)) as Id[]) : undefined;
}
