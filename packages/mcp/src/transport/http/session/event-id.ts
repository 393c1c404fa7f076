/** A place in one stream of one session. */
export interface EventPlace {
  stream: string;
  /** The log's id of the event; 0 is the place before the first. */
  after: number;
  /** True for the event that ended its stream. */
  last: boolean;
}

/**
 * The id of one event. It names its stream, so that a client which comes back finds the right one; it is no secret,
 * because streams are looked up under the session to which they belong.
 */
export function eventId(stream: string, id: number, last: boolean): string {
  return last ? `${stream}.${id}.last` : `${stream}.${id}`;
}

/** Reads an event id; undefined for anything that `eventId` does not make. */
export function parseEventId(value: string): EventPlace | undefined {
  const match = /^([\w-]{1,32})\.(0|[1-9]\d{0,15})(\.last)?$/.exec(value);
  const [, stream, digits, last] = match ?? [];
  if (stream === undefined || !Number.isSafeInteger(Number(digits))) return undefined;
  return { stream, after: Number(digits), last: last !== undefined };
}
