import { existsSync } from "node:fs";
import { type Client, type ClientOptions, connect, type ErrorKind, McpError, type Revision } from "@parley/mcp";
import type { CallTracer } from "@parley/mcp/telemetry";
import type { WireMessage } from "@parley/mcp/transport";
import type { Invocation } from "../commands/command.js";
import type { OptionReader } from "../commands/option-reader.js";
import { memberOf } from "../questions/typed-value.js";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { projectBuild } from "./project-build.js";
import { tokenFile } from "./saved-logins.js";
import type { ServerTarget } from "./target.js";

/** Client options that a command adds to the options of the command line. */
export interface OpenOptions
  extends Pick<
    ClientOptions,
    "onElicit" | "onSample" | "elicitUrls" | "roots" | "extensions" | "onLog" | "logLevel" | "onMessage" | "strict"
  > {
  /** Traces the calls of the client, and those that a server in this process handles. */
  readonly tracer?: CallTracer | undefined;
  /** Called with the name of the export that has the server of a module. */
  readonly onExport?: ((name: string) => void) | undefined;
}

/** Connects to the target of a command line. The caller closes the client, for example with `await using`. */
export async function openTarget(
  target: ServerTarget,
  { options, terminal }: Pick<Invocation, "options" | "terminal">,
  { tracer, onExport, ...more }: OpenOptions = {},
): Promise<Client> {
  const timeoutMs = options.duration("timeout");
  const revision = options.text("revision") as Revision | undefined;
  const recorder = await startRecorder(target, { options, terminal });
  const debug = options.flag("debug") ? debugWatcher(terminal) : undefined;
  const watchers = [more.onMessage, debug, recorder?.watch, tracer?.onMessage].filter((one) => one !== undefined);
  const common: ClientOptions = {
    name: "parley",
    signal: terminal.io.signal,
    onWarning: (message) => terminal.note(show`${terminal.noteStyle.yellow("warning: ")}${message}`),
    ...more,
    ...(revision === undefined ? {} : { revisions: [revision] }),
    ...(timeoutMs === undefined ? {} : { timeouts: { connectMs: timeoutMs, idleMs: timeoutMs } }),
    ...(tracer === undefined ? {} : { observe: tracer }),
    ...(watchers.length === 0 ? {} : { onMessage: (message) => notifyWatchers(watchers, message) }),
  };
  if (recorder === undefined) return open(target, common, terminal, { reader: options, tracer, onExport });
  try {
    const client = await open(target, common, terminal, { reader: options, tracer, onExport });
    recorder.established();
    client.on("state", ({ state }) => {
      if (state === "closed") recorder.close();
    });
    return client;
  } catch (reason) {
    recorder.close();
    throw reason;
  }
}

/** Starts the recording of `--record`, if given. */
async function startRecorder(target: ServerTarget, invocation: Pick<Invocation, "options" | "terminal">) {
  const file = invocation.options.text("record");
  if (file === undefined) return undefined;
  const { recordTarget } = await import("../recording/record-target.js");
  return recordTarget(target, file, invocation);
}

function notifyWatchers(watchers: readonly ((message: WireMessage) => void)[], message: WireMessage): void {
  for (const watch of watchers) watch(message);
}

/** Context that is not part of the client's options. */
interface OpenContext extends Pick<OpenOptions, "tracer" | "onExport"> {
  readonly reader: OptionReader;
}

function open(target: ServerTarget, options: ClientOptions, terminal: Terminal, context: OpenContext): Promise<Client> {
  return connectTarget(target, options, terminal, context).catch((reason: unknown) => {
    throw asConnectFailure(reason, target, terminal.io.cwd);
  });
}

/**
 * Converts `invalid_response` and `invalid_definition` to `connect_failed`: something answered or was loaded, but is
 * not an MCP server. Replaces the advice if the program is missing because it was not built.
 */
function asConnectFailure(reason: unknown, target: ServerTarget, cwd: string): unknown {
  if (!McpError.is(reason)) return reason;
  const { kind } = reason;
  if (kind === "invalid_response" || kind === "invalid_definition") return changedError(reason, "connect_failed");
  if (memberOf(reason.data, "reason") !== "missing_module") return reason;
  const build = projectBuild(target, cwd);
  return build?.state === "missing" ? changedError(reason, kind, build.fix) : reason;
}

/** Copies an error with another kind or fix. */
export function changedError(error: McpError, kind: ErrorKind, fix = error.fix): McpError {
  const { message, data, stack } = error;
  const changed = new McpError(kind, message, { fix, data, cause: error });
  if (stack !== undefined) changed.stack = stack;
  return changed;
}

async function connectTarget(
  target: ServerTarget,
  options: ClientOptions,
  terminal: Terminal,
  { reader, tracer, onExport }: OpenContext,
) {
  const debug = reader.flag("debug");
  if (target.kind === "module") {
    // Imported only for modules, because the import loads a compiler.
    const { openModule } = await import("./open-module.js");
    const { connectMs } = options.timeouts ?? {};
    return openModule(target.path, terminal.io, { client: options, debug, tracer, onExport, timeoutMs: connectMs });
  }
  const { entry } = target;
  if (target.kind === "command") {
    const { command, args, env, cwd, inheritEnv } = target.entry;
    return connect({ command, args, env, cwd, inheritEnv, stderr: debug ? stderrLine(terminal) : "capture" }, options);
  }
  const { url, transport } = target.entry;
  const auth = await credentialsOf(entry.headers ?? {}, { options: reader, terminal });
  const http = { ...options, headers: { ...entry.headers }, ...(auth === undefined ? {} : { auth }) };
  const where = transport === "http" || transport === "sse" ? { url, transport } : url;
  return connect(where, http);
}

/**
 * Returns the credentials of `--grant` or of a saved login. Imports authorization only if needed, because it is a third
 * of the code that a call loads.
 */
async function credentialsOf(
  headers: Readonly<Record<string, string>>,
  { options, terminal }: Pick<Invocation, "options" | "terminal">,
) {
  const isGranted = options.text("grant") !== undefined;
  if (!isGranted && !existsSync(tokenFile(terminal.io))) return undefined;
  const { grantCredentials, savedLogins } = await import("./saved-logins.js");
  return isGranted ? grantCredentials({ options, terminal }) : savedLogins(headers, terminal.io);
}

function stderrLine(terminal: Terminal): (line: string) => void {
  return (line) => terminal.note(show`${terminal.noteStyle.dim("stderr:")} ${line}`);
}

function debugWatcher(terminal: Terminal): (message: WireMessage) => void {
  return ({ direction, message }) =>
    terminal.note(show`${direction === "sent" ? "→" : "←"} ${JSON.stringify(message)}`);
}
