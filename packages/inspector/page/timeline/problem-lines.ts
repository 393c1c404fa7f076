import type { MessageProblem } from "../../src/contract/timeline.js";

interface OpenValue {
  readonly pointer: string;
  /** The index of the next element. Undefined for objects. */
  next: number | undefined;
}

/**
 * Maps the JSON pointer of every value to its line, counted from 0. Expects JSON text with one value per line. In a
 * truncated text, covers the values before the cut.
 */
export function linesOfPointers(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const open: OpenValue[] = [];
  text.split("\n").forEach((raw, index) => {
    const line = raw.trim();
    if (line.startsWith("}") || line.startsWith("]")) {
      open.pop();
      return;
    }
    const parent = open.at(-1);
    const { key, value } = memberOf(line, parent);
    const pointer = parent === undefined ? "" : `${parent.pointer}/${escaped(key)}`;
    if (!lines.has(pointer)) lines.set(pointer, index);
    if (value === "{" || value === "[") open.push({ pointer, next: value === "[" ? 0 : undefined });
  });
  return lines;
}

function memberOf(line: string, parent: OpenValue | undefined): { key: string; value: string } {
  if (parent === undefined) return { key: "", value: line };
  if (parent.next !== undefined) {
    const key = String(parent.next);
    parent.next += 1;
    return { key, value: line };
  }
  const end = endOfString(line);
  return { key: textOf(line.slice(0, end)), value: line.slice(end + 2) };
}

/** The index of the character after the closing quote of the string at the beginning of a line. */
function endOfString(line: string): number {
  let at = 1;
  while (at < line.length && line[at] !== '"') at += line[at] === "\\" ? 2 : 1;
  return at + 1;
}

function textOf(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    // The text was truncated within this line.
    return quoted;
  }
}

const escaped = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** Groups problems by line: the line of the value or, if the value is missing, of its nearest ancestor. */
export function problemLines<P extends { readonly path: string }>(
  text: string,
  problems: readonly P[],
): ReadonlyMap<number, readonly P[]> {
  const placed = new Map<number, P[]>();
  if (problems.length === 0) return placed;
  const lines = linesOfPointers(text);
  for (const problem of problems) {
    let pointer = problem.path;
    while (!lines.has(pointer) && pointer !== "") pointer = pointer.slice(0, Math.max(0, pointer.lastIndexOf("/")));
    const line = lines.get(pointer) ?? 0;
    placed.set(line, [...(placed.get(line) ?? []), problem]);
  }
  return placed;
}

/** Describes a problem. Adds the name of the violated definition unless the message contains it. */
export function problemWords({ message, definition }: MessageProblem): string {
  return message.includes(definition) ? message : `${message} (${definition})`;
}
