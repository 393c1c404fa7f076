import { setImmediate } from "node:timers/promises";

/** How long others wait for their turn at most, unless a single part takes longer: redaction cannot stop within a message. */
export const SLICE_MS = 20;
/** Characters of one slice, so that little is held for a reader who is slower than the writer. */
export const SLICE_CHARACTERS = 256 * 1024;

/** Makes parts of a text, and lets all other work of the process have its turn after each slice of them. */
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
