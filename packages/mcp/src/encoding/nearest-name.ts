/**
 * Maximum length of a compared name. Longer names are ignored, because the cost grows with the product of the lengths.
 */
const MAX_LENGTH = 64;
/** Maximum number of compared names. Further names are ignored. */
const MAX_NAMES = 256;

/**
 * Returns the known name that was probably meant, or undefined if none is close.
 *
 * @example
 * ```ts
 * import { nearestName } from "@parley/mcp/protocol";
 *
 * nearestName("serach_notes", ["search_notes", "delete_note"]); // "search_notes"
 * ```
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const plain = bare(name);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  let compared = 0;
  for (const candidate of known) {
    if (candidate.length > MAX_LENGTH || ++compared > MAX_NAMES) continue;
    // `userId`, `user_id` and `USER-ID` are easily confused, so they count as equal.
    const distance = bare(candidate) === plain ? 0 : editDistance(name, candidate, bestDistance);
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

function bare(name: string): string {
  return name.toLowerCase().replace(/[_.\s-]/g, "");
}

/**
 * Returns the number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, but at most
 * `limit`.
 */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(before, column - 2) + 1);
      current.push(cost);
    }
    before = previous;
    previous = current;
  }
  return Math.min(at(previous, b.length), limit);
}

function at(costs: readonly number[], index: number): number {
  return costs[index] ?? Number.POSITIVE_INFINITY;
}
