import { setImmediate } from "node:timers/promises";

/**
 * Time after which a slice ends. A single part may take longer, because the redaction of a message cannot be
 * interrupted.
 */
export const SLICE_MS = 20;
/** Number of characters after which a slice ends, to limit the text that is buffered for a slow reader. */
export const SLICE_CHARACTERS = 256 * 1024;

/** Groups the parts of a text into slices and yields to the event loop after each slice. */
export async function* inSlices(
  parts: Iterable<string>,
  now: () => number = () => performance.now(),
): AsyncGenerator<readonly string[], void> {
  let [slice, characters, began]: [string[], number, number] = [[], 0, now()];
  for (const part of parts) {
    slice.push(part);
    characters += part.length;
    if (characters < SLICE_CHARACTERS && now() - began < SLICE_MS) continue;
    yield slice;
    await setImmediate();
    [slice, characters, began] = [[], 0, now()];
  }
  if (slice.length > 0) yield slice;
}
