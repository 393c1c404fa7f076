import type { Revision } from "@parley/mcp";
import { type HostEntry, remoteServer } from "@parley/mcp/host";
import type { CommandRun, Invocation } from "../commands/command.js";
import { servingPlace, withStdoutGuarded, wordsWithoutPort } from "../serving/serving-place.js";
import { savedLogins } from "../target/saved-logins.js";
import { resolveTarget, type ServerTarget } from "../target/target.js";
import { EXIT } from "../terminal/exit-code.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { recordTarget } from "./record-target.js";
import type { Recorder } from "./recorder.js";
import { serveRecording } from "./serve-recording.js";

/** `parley record`: forwards between clients and a server, and records every message exchanged with the server. */
export const record: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const [target] = await resolveTarget({ ...invocation, words: wordsWithoutPort(invocation) });
  const file = options.text("output");
  if (file === undefined) throw new UsageError("which file?", "Name the file to record to: -o session.jsonl.");
  const place = servingPlace(invocation);
  const recorder = recordTarget(target, file, invocation, options.flag("force"));
  try {
    const open = () => recordedServer(target, recorder, invocation);
    // On stdio, stdout is for messages, but a module may print while it loads.
    const server = await (place.kind === "stdio" ? withStdoutGuarded(terminal.io, open) : open());
    recorder.established();
    terminal.note(show`recording to ${file}`);
    await serveRecording(server, place, invocation);
  } finally {
    recorder.close();
  }
  return EXIT.ok;
};

async function recordedServer(target: ServerTarget, recorder: Recorder, { options, terminal }: Invocation) {
  const revision = options.text("revision") as Revision | undefined;
  const timeoutMs = options.duration("timeout");
  const auth = target.kind === "url" ? savedLogins(target.entry.headers ?? {}, terminal.io) : undefined;
  return remoteServer(await entryOf(target), {
    client: {
      name: "parley",
      onMessage: recorder.watch,
      onWarning: (message) => terminal.note(show`${terminal.noteStyle.yellow("warning: ")}${message}`),
      ...(revision === undefined ? {} : { revisions: [revision] }),
      ...(timeoutMs === undefined ? {} : { timeouts: { connectMs: timeoutMs, idleMs: timeoutMs } }),
    },
    // Health checks would clutter the recording with requests that no client sent.
    health: false,
    ...(auth === undefined ? {} : { auth: () => auth }),
  });
}

/** The entry of the server, without the limits and filters of its configuration. */
async function entryOf(target: ServerTarget): Promise<HostEntry> {
  if (target.kind === "url") {
    const { url, headers, transport } = target.entry;
    return { url, ...(headers === undefined ? {} : { headers }), ...(transport === undefined ? {} : { transport }) };
  }
  if (target.kind === "command") {
    const { command, args = [], env = {}, cwd, inheritEnv } = target.entry;
    const place = cwd === undefined ? {} : { cwd };
    return { command, args, env, ...place, ...(inheritEnv === undefined ? {} : { inheritEnv }) };
  }
  const { loadServerModule } = await import("../target/load-module.js");
  return loadServerModule(target.path);
}
