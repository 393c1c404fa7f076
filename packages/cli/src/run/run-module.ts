import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { CommandRun, Invocation } from "../commands/command.js";
import { ModuleGraph } from "../modules/module-graph.js";
import { serveUntilEnded, withStdoutGuarded, wordsWithoutPort } from "../serving/serving-place.js";
import { loadServerModule } from "../target/load-module.js";
import { missingModule } from "../target/target.js";
import { EXIT } from "../terminal/exit-code.js";
import { parleyCommand } from "../terminal/parley-command.js";
import { shownPath } from "../terminal/shown-path.js";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { programConfig } from "./program-config.js";
import { ReloadingModule } from "./reloading-module.js";
import { beginServing, type ServingConfig, servingConfigOf } from "./serving.js";

/** `parley run`: serves the server that a module exports. */
export const runModule: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const { io } = terminal;
  const path = modulePath(invocation);
  const serving = servingConfigOf(invocation, await programConfig(io));
  const graph = new ModuleGraph(path);
  const load = () => Promise.race([loadServerModule(path, graph), interruption(io.signal)]);
  const server = await (serving.kind === "stdio" ? withStdoutGuarded(io, load) : load());
  const reloading = options.flag("watch")
    ? new ReloadingModule(path, graph, server, terminal, options.flag("debug"))
    : undefined;
  try {
    await using handle = await beginServing(reloading?.bind() ?? server, serving);
    announce(terminal, serving, handle.url ?? "", shownPath(path, io.cwd), server.endpoint().info?.name ?? "");
    if (reloading !== undefined)
      terminal.note(show`watching ${graph.files.size} ${graph.files.size === 1 ? "file" : "files"}`);
    await serveUntilEnded(handle, io);
  } finally {
    await (reloading ?? server).close();
  }
  return EXIT.ok;
};

function modulePath(invocation: Invocation): string {
  const [word, ...others] = wordsWithoutPort(invocation);
  if (word === undefined) throw new UsageError("which module?", "Name its path, such as ./server.ts.");
  if (others.length > 0) {
    throw new UsageError(`unexpected argument "${others[0]}"`, "Name one module, such as ./server.ts.");
  }
  const path = resolve(invocation.terminal.io.cwd, word);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return path;
  throw missingModule(word, path);
}

/** Rejects when the user interrupts, so that a module that never finishes loading can be interrupted. */
function interruption(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}

function announce(terminal: Terminal, { kind }: ServingConfig, url: string, module: string, name: string): void {
  const { green, dim } = terminal.noteStyle;
  const isStdio = kind === "stdio";
  const parley = parleyCommand(terminal.io);
  terminal.note(show`${green("serving")} ${module} ${isStdio ? "on stdin and stdout" : `at ${url}`}`);
  const itself = `-- ${parley} run ${module} --stdio`;
  terminal.note(show`${dim("try:")} ${parley} inspect ${isStdio ? itself : url}`);
  terminal.note(show`     ${parley} ${isStdio ? `list ${itself}` : `call ${url} <tool> name=value`}`);
  // Claude Code accepts no other characters in names.
  const entry = /^[\w-]+$/.test(name) ? name : "server";
  if (!isStdio) terminal.note(show`${dim("add:")} claude mcp add --transport http ${entry} ${url}`);
  else if (terminal.io.stdin.isTTY === true)
    terminal.note(show`An application starts this command and speaks JSON-RPC with it. Ctrl-C ends it.`);
}
