import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Server } from "@parley/mcp";
import { remoteServer } from "@parley/mcp/host";
import { REVISIONS } from "@parley/mcp/protocol";
import type { CommandRun } from "../commands/command.js";
import { servingPlace, wordsBesidePort } from "../serving/serving-place.js";
import { EXIT } from "../terminal/exit-code.js";
import { show } from "../terminal/shown.js";
import { UsageError } from "../terminal/usage-error.js";
import { MAX_RECORDING_BYTES, parseRecording, type Recording } from "./recording.js";
import { ReplayedServer } from "./replayed-server.js";
import { serveRecording } from "./serve-recording.js";

/** `parley replay`: serves a recording as a server, or sends its requests to another one. */
export const replay: CommandRun = async (invocation) => {
  const { options, terminal, program } = invocation;
  const [file] = wordsBesidePort(invocation);
  if (file === undefined) throw new UsageError("no recording is named", "Name the file that was recorded.");
  const recording = readRecording(file, terminal.io.cwd);
  for (const note of recording.notes) terminal.note(show`${terminal.noteStyle.yellow("warning: ")}${file}: ${note}`);
  if (options.text("against") !== undefined || options.flag("against") || program.length > 0) {
    const { replayAgainstTarget } = await import("./replay-against-target.js");
    return replayAgainstTarget(recording, invocation);
  }
  const place = servingPlace(invocation);
  await serveRecording(await replayedServer(recording), place, invocation);
  return EXIT.ok;
};

/** A server that answers as the recorded one did, to clients of every revision. Throws a `UsageError` if nothing was said. */
export async function replayedServer(recording: Recording): Promise<Server> {
  const { revision: spoken, server } = recording.header;
  const revision = REVISIONS.find((known) => known === spoken);
  if (revision === undefined)
    throw new UsageError("the recording has no complete handshake", "Record a session in which the server answers.");
  const replayed = new ReplayedServer(recording);
  return remoteServer(
    { makeTransport: () => replayed.makeTransport() },
    {
      client: { revisions: [revision], cache: false, onWarning: () => {} },
      health: false,
      circuit: false,
      info: server,
    },
  );
}

/** Reads the file of a recording. Throws a `UsageError` for one that is too long or wrong. */
function readRecording(file: string, cwd: string): Recording {
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
