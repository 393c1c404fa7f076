import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { MAX_RECORDING_BYTES, parseRecording, type Recording, replayedServer } from "@parley/mcp/recording";
import type { CommandRun } from "../commands/command.js";
import { servingPlace, wordsWithoutPort } from "../serving/serving-place.js";
import { EXIT } from "../terminal/exit-code.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { recordingUsage } from "./recording-usage.js";
import { serveRecording } from "./serve-recording.js";

/** `parley replay`: serves a recording, or sends its requests to another server and compares the answers. */
export const replay: CommandRun = async (invocation) => {
  const { options, terminal, program } = invocation;
  const [file] = wordsWithoutPort(invocation);
  if (file === undefined) throw new UsageError("which recording?", "Name the file of a recording.");
  const recording = await readRecording(file, terminal.io.cwd);
  for (const note of recording.notes) terminal.note(show`${terminal.noteStyle.yellow("warning: ")}${file}: ${note}`);
  if (options.text("against") !== undefined || options.flag("against") || program.length > 0) {
    const { replayAgainstTarget } = await import("./replay-against-target.js");
    return replayAgainstTarget(recording, invocation);
  }
  const place = servingPlace(invocation);
  await serveRecording(await recordingUsage(() => replayedServer(recording)), place, invocation);
  return EXIT.ok;
};

/** Reads a recording. Rejects with a `UsageError` if the file is missing, too large or invalid. */
async function readRecording(file: string, cwd: string): Promise<Recording> {
  const path = resolve(cwd, file);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true)
    throw new UsageError(`the file ${file} does not exist`, "Check the path of the recording.");
  if (stats.size > MAX_RECORDING_BYTES)
    throw new UsageError(
      `${file} is larger than ${MAX_RECORDING_BYTES} bytes`,
      "Split it, or record a shorter session.",
    );
  return recordingUsage(() => parseRecording(readFileSync(path, "utf8"), file));
}
