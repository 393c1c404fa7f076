import { boundedJson } from "../timeline/bounded-json.js";

/** Characters of a value that differs; more cannot be read side by side. */
const MOST_SHOWN = 4_000;

/** A value that the page can show beside another: a large one as the beginning of its text. */
export function boundedValue(value: unknown): unknown {
  if (value === undefined) return undefined;
  const { text, cut } = boundedJson(value, MOST_SHOWN);
  return cut ? `${text}…` : value;
}
