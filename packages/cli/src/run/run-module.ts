import { statSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { CommandRun, Invocation } from "../commands/command.js";
import { ModuleGraph } from "../modules/module-graph.js";
import { serveUntilEnded, withStdoutGuarded, wordsWithoutPort } from "../serving/serving-place.js";
import { loadServerModule } from "../target/load-module.js";
import { EXIT } from "../terminal/exit-code.js";
import { parleyCommand } from "../terminal/parley-command.js";
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
    announce(terminal, serving, handle.url, relative(io.cwd, path));
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
  throw new UsageError(`the file ${word} does not exist`, "Check the path. It is relative to the current folder.");
}

/** Rejects when the user interrupts, so that a module that never finishes loading can be interrupted. */
function interruption(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}

function announce(terminal: Terminal, { kind }: ServingConfig, url: string | undefined, module: string): void {
  const { green, dim } = terminal.noteStyle;
  const where = kind === "stdio" ? "on stdin and stdout" : `at ${url}`;
  const parley = parleyCommand(terminal.io);
  const line = kind === "stdio" ? `list -- ${parley} run ${module} --stdio` : `call ${url} <tool> name=value`;
  terminal.note(show`${green("serving")} ${module} ${where}`);
  terminal.note(show`${dim("try:")} ${parley} ${line}`);
}
