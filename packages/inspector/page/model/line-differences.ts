/** A line of one side. `differs` is true if the line is missing or at another position on the other side. */
export interface MarkedLine {
  readonly text: string;
  readonly differs: boolean;
}

/** Maximum number of compared lines per side. Longer texts are not compared, because the time grows quadratically. */
const MAX_COMPARED_LINES = 1_500;

/**
 * Marks each line of two JSON texts that is missing or at another position in the other text. Leaves texts over the
 * limit unmarked.
 */
export function lineDifferences(left: string, right: string): { left: MarkedLine[]; right: MarkedLine[] } {
  const [ours, theirs] = [left.split("\n"), right.split("\n")];
  if (ours.length > MAX_COMPARED_LINES || theirs.length > MAX_COMPARED_LINES)
    return { left: plain(ours), right: plain(theirs) };
  const common = commonLines(ours.map(withoutComma), theirs.map(withoutComma));
  return { left: marked(ours, common.left), right: marked(theirs, common.right) };
}

/** The trailing comma depends on the following line, so the comparison ignores it. */
const withoutComma = (line: string) => (line.endsWith(",") ? line.slice(0, -1) : line);
const plain = (lines: readonly string[]) => lines.map((text) => ({ text, differs: false }));
const marked = (lines: readonly string[], common: ReadonlySet<number>) =>
  lines.map((text, at) => ({ text, differs: !common.has(at) }));

/** The indexes of a longest common subsequence on both sides. */
function commonLines(ours: readonly string[], theirs: readonly string[]): { left: Set<number>; right: Set<number> } {
  const width = theirs.length + 1;
  const lengths = new Uint16Array((ours.length + 1) * width);
  const lengthAt = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = ours.length - 1; i >= 0; i--) {
    for (let j = theirs.length - 1; j >= 0; j--) {
      const longer = Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
      lengths[i * width + j] = ours[i] === theirs[j] ? lengthAt(i + 1, j + 1) + 1 : longer;
    }
  }
  const [left, right] = [new Set<number>(), new Set<number>()];
  for (let i = 0, j = 0; i < ours.length && j < theirs.length; ) {
    if (ours[i] === theirs[j]) {
      left.add(i++);
      right.add(j++);
    } else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i++;
    else j++;
  }
  return { left, right };
}
