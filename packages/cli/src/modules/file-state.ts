import { statSync } from "node:fs";

/** The state of a file that does not exist. */
export const ABSENT = "absent";

/** What tells two states of a file apart: when it was written, its length, and which file it is. */
export function fileState(path: string): string {
  try {
    const { mtimeMs, ctimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
  } catch {
    return ABSENT;
  }
}
