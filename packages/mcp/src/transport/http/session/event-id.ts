/** A position in one stream of one session. */
export interface EventPosition {
  stream: string;
  /** The log's id of the event; 0 is the position before the first. */
  after: number;
  /** True for the event that ended its stream. */
  last: boolean;
}

/**
 * The id of one event. It includes its stream, so that a client that reconnects finds the right one; it need not be
 * secret, because streams are looked up within their session.
 */
export function eventId(stream: string, id: number, last: boolean): string {
  return last ? `${stream}.${id}.last` : `${stream}.${id}`;
}

/** Parses an event id; undefined for anything that `eventId` does not make. */
export function parseEventId(value: string): EventPosition | undefined {
  const match = /^([\w-]{1,32})\.(0|[1-9]\d{0,15})(\.last)?$/.exec(value);
  const [, stream, digits, last] = match ?? [];
  if (stream === undefined || !Number.isSafeInteger(Number(digits))) return undefined;
  return { stream, after: Number(digits), last: last !== undefined };
}
