import { boundedJson } from "../timeline/bounded-json.js";

/**
 * Maximum number of characters of a compared value, written as JSON. Longer values are truncated, because they cannot
 * be read side by side.
 */
const MAX_LENGTH = 4_000;

/** Returns the value, or the beginning of its JSON text if it is too large for a comparison. */
export function boundedValue(value: unknown): unknown {
  if (value === undefined) return undefined;
  const { text, cut } = boundedJson(value, MAX_LENGTH);
  return cut ? `${text}…` : value;
}
