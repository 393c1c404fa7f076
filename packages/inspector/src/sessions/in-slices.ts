import { setImmediate } from "node:timers/promises";

/**
 * Time after which a slice yields to the event loop. A single part may take longer: redaction cannot stop within a
 * message.
 */
export const SLICE_MS = 20;
/** Maximum number of characters in a slice, to limit what is buffered for a slow reader. */
export const SLICE_CHARACTERS = 256 * 1024;

/** Groups the parts of a text into slices and yields to the event loop after each of them. */
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
