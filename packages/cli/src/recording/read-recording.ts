import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../terminal/usage-error.js";
import { MAX_RECORDING_BYTES, parseRecording, type Recording } from "./recording.js";

/** Reads the file of a recording. Throws a `UsageError` for one that is too long or wrong. */
export function readRecording(file: string, cwd: string): Recording {
  const path = resolve(cwd, file);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) throw new UsageError(`there is no file ${file}`, "Check the path of the recording.");
  if (stats.size > MAX_RECORDING_BYTES)
    throw new UsageError(
      `${file} is longer than ${MAX_RECORDING_BYTES} bytes`,
      "Split it, or record a shorter session.",
    );
  return parseRecording(readFileSync(path, "utf8"), file);
}
