import { type Client, type ClientOptions, connect, type Revision } from "@parley/mcp";
import type { WireMessage } from "@parley/mcp/transport";
import type { Invocation } from "../commands/command.js";
import { show } from "../terminal/shown.js";
import type { Terminal } from "../terminal/terminal.js";
import { savedLogins } from "./saved-logins.js";
import type { ServerTarget } from "./target.js";

/** What a command adds to the options that the command line gives: answers of questions, extensions, a watcher. */
export type OpenOptions = Pick<
  ClientOptions,
  "onElicit" | "onSample" | "elicitUrls" | "roots" | "extensions" | "onLog" | "logLevel" | "onMessage" | "strict"
>;

/** Connects to the target of a command line. Close the client when the command ends: `await using`. */
export async function openTarget(
  target: ServerTarget,
  { options, terminal }: Pick<Invocation, "options" | "terminal">,
  more: OpenOptions = {},
): Promise<Client> {
  const timeoutMs = options.duration("timeout");
  const revision = options.text("revision") as Revision | undefined;
  const watchers = [more.onMessage, options.flag("debug") ? debugWatcher(terminal) : undefined].filter(
    (one) => one !== undefined,
  );
  const common: ClientOptions = {
    name: "parley",
    signal: terminal.io.signal,
    onWarning: (message) => terminal.note(show`${terminal.noteStyle.yellow("warning: ")}${message}`),
    ...more,
    ...(revision === undefined ? {} : { revisions: [revision] }),
    ...(timeoutMs === undefined ? {} : { timeouts: { connectMs: timeoutMs, idleMs: timeoutMs } }),
    ...(watchers.length === 0 ? {} : { onMessage: (message) => tell(watchers, message) }),
  };
  return open(target, common, terminal);
}

function tell(watchers: readonly ((message: WireMessage) => void)[], message: WireMessage): void {
  for (const watch of watchers) watch(message);
}

async function open(target: ServerTarget, options: ClientOptions, terminal: Terminal): Promise<Client> {
  if (target.kind === "module") {
    // Loaded only where a module is named: it brings a compiler.
    const { loadServerModule } = await import("./load-module.js");
    return connect(await loadServerModule(target.path), options);
  }
  const { entry } = target;
  if (target.kind === "command") {
    const { command, args, env, cwd, inheritEnv } = target.entry;
    return connect({ command, args, env, cwd, inheritEnv }, options);
  }
  const { url, transport } = target.entry;
  const auth = savedLogins(url, entry.headers ?? {}, terminal.io);
  const http = { ...options, headers: { ...entry.headers }, ...(auth === undefined ? {} : { auth }) };
  return transport === "http" || transport === "sse" ? connect({ url, transport }, http) : connect(url, http);
}

function debugWatcher(terminal: Terminal): (message: WireMessage) => void {
  return ({ direction, message }) =>
    terminal.note(show`${direction === "sent" ? "→" : "←"} ${JSON.stringify(message)}`);
}
