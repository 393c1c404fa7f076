/** A line that only one of two texts has: `-` the first, `+` the second, or ` ` both. */
export interface DifferentLine {
  readonly sign: "-" | "+" | " ";
  readonly line: string;
}

/** Comparisons of one difference; more than that, and all lines between the equal ends count as different. */
const MOST_COMPARISONS = 4_000_000;
/** Equal lines that are kept before and after different ones. */
const CONTEXT = 2;

/** What is different between two texts, place by place, with a few equal lines around; empty if they are equal. */
export function lineDifference(before: string, after: string): DifferentLine[][] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const middle = between(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const same = (lines: readonly string[]) => lines.map((line): DifferentLine => ({ sign: " ", line }));
  return around([...same(a.slice(0, head)), ...middle, ...same(a.slice(a.length - tail))]);
}

/** The longest common subsequence, by the usual table. */
function between(a: readonly string[], b: readonly string[]): DifferentLine[] {
  const removed = (line: string): DifferentLine => ({ sign: "-", line });
  const added = (line: string): DifferentLine => ({ sign: "+", line });
  if (a.length * b.length > MOST_COMPARISONS) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const length = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const lines: DifferentLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [old = "", fresh = ""] = [a[i], b[j]];
    if (i < a.length && j < b.length && old === fresh) {
      lines.push({ sign: " ", line: old });
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && length(i + 1, j) >= length(i, j + 1))) {
      lines.push(removed(old));
      i++;
    } else {
      lines.push(added(fresh));
      j++;
    }
  }
  return lines;
}

/** The places with different lines, without the equal lines that are far from them. */
function around(lines: readonly DifferentLine[]): DifferentLine[][] {
  const near = new Set<number>();
  lines.forEach(({ sign }, at) => {
    if (sign === " ") return;
    for (let other = at - CONTEXT; other <= at + CONTEXT; other++) near.add(other);
  });
  const places: DifferentLine[][] = [];
  lines.forEach((line, at) => {
    if (!near.has(at)) return;
    if (near.has(at - 1) && at > 0) places.at(-1)?.push(line);
    else places.push([line]);
  });
  return places;
}
