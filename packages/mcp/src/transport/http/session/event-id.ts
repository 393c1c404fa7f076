/** A position in one stream of one session. */
export interface EventPosition {
  stream: string;
  /** The log's id of the event; 0 is the position before the first. */
  after: number;
  /** True for the event that ended its stream. */
  last: boolean;
  /** How many further entries of `node` the client has, which got them before they had an id. */
  ahead: number;
  node: string;
}

/**
 * The id of one event. It includes its stream, so that a client that reconnects finds the right one; it need not be
 * secret, because streams are looked up within their session.
 */
export function eventId(stream: string, id: number, last: boolean, ahead = 0, node = ""): string {
  if (last) return `${stream}.${id}.last`;
  return ahead > 0 ? `${stream}.${id}.${ahead}-${node}` : `${stream}.${id}`;
}

/** Parses an event id; undefined for anything that `eventId` does not make. */
export function parseEventId(value: string): EventPosition | undefined {
  const match = /^([\w-]{1,32})\.(0|[1-9]\d{0,15})(?:\.(?:(last)|([1-9]\d{0,4})-([\w-]{12})))?$/.exec(value);
  const [, stream, digits, last, ahead = 0, node = ""] = match ?? [];
  if (stream === undefined || !Number.isSafeInteger(Number(digits))) return undefined;
  return { stream, after: Number(digits), last: last !== undefined, ahead: Number(ahead), node };
}
