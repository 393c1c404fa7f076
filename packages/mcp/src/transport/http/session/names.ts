/** Under which names storage holds what belongs to one session. */

export function keyOf(session: string): string {
  return `http/session/${session}`;
}

/** How far the standing stream was read when its last connection ended. */
export function placeOf(session: string): string {
  return `http/place/${session}`;
}

export function topicOf(session: string): string {
  return `http/session/${session}`;
}

/** The name holds the session, so that an event id of one session finds nothing in another. */
export function logNameOf(session: string, stream: string): string {
  return `http/events/${session}/${stream}`;
}
