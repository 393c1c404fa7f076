import { resolve } from "node:path";
import { type Inspector, type InspectorOptions, type InspectorTarget, startInspector } from "@parley/inspector";
import { connect, type Revision } from "@parley/mcp";
import type { HostServer } from "@parley/mcp/host";
import { fileTokenStore, openInBrowser } from "@parley/mcp/login";
import { Redactor } from "@parley/mcp/recording";
import type { CommandRun, Invocation } from "../commands/command.js";
import { answerByCommand, commandWords } from "../questions/model-command.js";
import { tokenFile } from "../target/saved-logins.js";
import { resolveTargets, type ServerTarget } from "../target/target.js";
import { targetSecrets } from "../target/target-secrets.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Io } from "../terminal/io.js";
import { redirectConsole } from "../terminal/redirect-console.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import type { InspectedModule } from "./inspected-module.js";

/** `parley inspect`: serves the inspector until a signal arrives. */
export const inspect: CommandRun = async (invocation) => {
  const targets = await inspectorTargets(invocation);
  const restoreConsole = redirectConsole(invocation.terminal.io);
  const { stackTraceLimit } = Error;
  // Errors of handlers are printed with the line of the module, not with the frames of this program.
  if (!invocation.options.flag("debug")) Error.stackTraceLimit = 1;
  try {
    const inspector = await startInspector({ ...inspectorOptions(invocation), targets });
    await announceAndWait(inspector, invocation).finally(() => inspector.close());
  } finally {
    restoreConsole();
    Error.stackTraceLimit = stackTraceLimit;
  }
  return EXIT.ok;
};

async function announceAndWait(inspector: Inspector, { options, terminal }: Invocation): Promise<void> {
  if (terminal.json) terminal.printJsonLine({ url: inspector.url });
  else terminal.print(show`${inspector.url}`);
  const { dim } = terminal.noteStyle;
  terminal.note(show`${dim("the address contains the access key; press Ctrl-C to stop the inspector")}`);
  if (terminal.io.stdout.isTTY === true && !options.isOff("open")) openPage(inspector.url);
  await untilEnded(inspector, terminal.io);
}

function inspectorOptions({ options, terminal: { io } }: Invocation): InspectorOptions {
  const line = options.text("sampleWith");
  const words = line === undefined ? undefined : commandWords(line);
  return {
    port: options.count("port", 0, 65_535),
    // Safe: commander accepts only the declared choices.
    revision: options.text("revision") as Revision | undefined,
    connectMs: options.duration("timeout"),
    tokens: fileTokenStore(tokenFile(io)),
    loadTokenizer: async () => (await import("../tokens/token-counter.js")).loadTokenizer(),
    ...(words === undefined
      ? {}
      : { model: (question, signal) => answerByCommand(words, question, io, AbortSignal.any([signal, io.signal])) }),
  };
}

function openPage(url: string): void {
  try {
    openInBrowser(url);
  } catch {
    // No browser can be opened here. The user can open the printed address.
  }
}

async function untilEnded({ closed }: Inspector, { signal }: Io): Promise<void> {
  const interrupted = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await Promise.race([closed, interrupted]);
}

/** Maximum number of targets. More targets are a usage error. */
const MAX_TARGETS = 40;

/**
 * Reads the servers of the command line: each word and the program after `--`. If there are neither, reads every server
 * of `--config`.
 *
 * An empty list is valid, because addresses can be added in the page. Throws a `UsageError` for an unknown server.
 */
async function inspectorTargets(invocation: Invocation): Promise<InspectorTarget[]> {
  const { words, program, options } = invocation;
  const named = words.length > 0 || program.length > 0 || options.text("config") === undefined;
  const targets = await resolveTargets(named ? invocation : { ...invocation, words: await configNames(invocation) });
  if (targets.length > MAX_TARGETS) {
    throw new UsageError(`the inspector cannot connect to ${targets.length} servers`, `Name at most ${MAX_TARGETS}.`);
  }
  return targets.map((target) => inspectorTarget(target, invocation));
}

/** Returns the names of the usable servers in the file, and prints the problems of the unusable ones. */
async function configNames({ options, terminal }: Invocation): Promise<string[]> {
  const file = options.text("config") ?? "";
  // Loaded only here, because the import loads the library's host.
  const { readConfigServers } = await import("../target/config-servers.js");
  const { path, servers, problems } = readConfigServers(resolve(terminal.io.cwd, file), terminal.io);
  const broken = problems.filter(({ severity }) => severity === "error");
  for (const { path: place, message } of broken) {
    terminal.note(show`${terminal.noteStyle.yellow("skipped")} ${path}: ${place}: ${message}`);
  }
  const unusable = new Set(broken.map(({ server }) => server));
  const names = Object.keys(servers).filter((name) => servers[name]?.disabled !== true && !unusable.has(name));
  if (names.length > 0) return names;
  throw new UsageError(`${path} has no usable server`, "Add one, enable one, or name a target.");
}

function inspectorTarget(target: ServerTarget, invocation: Invocation): InspectorTarget {
  if (target.kind === "module") return moduleTarget(target, invocation);
  const secrets = targetSecrets(target, invocation.terminal.io.env);
  return target.kind === "command" ? commandTarget(target.entry, secrets) : urlTarget(target.entry, secrets);
}

function urlTarget(entry: HostServer & { readonly url: string }, secrets: readonly string[]): InspectorTarget {
  const { url, transport, headers = {} } = entry;
  const where = transport === "http" || transport === "sse" ? { url, transport } : url;
  return {
    kind: "url",
    shown: new Redactor({ values: secrets }).text(url),
    url,
    secrets,
    authorized: Object.keys(headers).some((name) => name.toLowerCase() === "authorization"),
    open: (options) => connect(where, { ...options, headers: { ...headers } }),
  };
}

function commandTarget(entry: HostServer & { readonly command: string }, secrets: readonly string[]): InspectorTarget {
  const { command, args = [], env, cwd, inheritEnv } = entry;
  return {
    kind: "command",
    shown: new Redactor({ values: secrets }).text([command, ...args].join(" ")),
    command: [command, ...args],
    secrets,
    open: (options, { onStderr }) => connect({ command, args, env, cwd, inheritEnv, stderr: onStderr }, options),
  };
}

function moduleTarget({ name, path }: ServerTarget & { kind: "module" }, invocation: Invocation): InspectorTarget {
  const { options: given, terminal } = invocation;
  let module: InspectedModule | undefined;
  return {
    kind: "module",
    shown: name,
    open: async (options, { onHandshakeChanged }) => {
      // Loaded only here, because the import loads a compiler.
      const { InspectedModule } = await import("./inspected-module.js");
      module ??= new InspectedModule(path, terminal, given.flag("debug"));
      return module.open(options, onHandshakeChanged);
    },
  };
}
