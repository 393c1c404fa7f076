/** Lines that differ between two texts: those that are gone, then those that are new. */
export interface ChangedLines {
  readonly gone: readonly string[];
  readonly added: readonly string[];
  /** The number of the first of them. */
  readonly line: number;
}

/** The one block of lines in which two texts differ; what begins and ends both alike is left out. */
export function changedLines(before: string, after: string): ChangedLines {
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  return { gone: old.slice(head, old.length - tail), added: now.slice(head, now.length - tail), line: head + 1 };
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
