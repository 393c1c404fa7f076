import { createHash } from "node:crypto";
import { join } from "node:path";
import type { LoadedConfig } from "@parley/mcp/config";
import { Host } from "@parley/mcp/host";
import { catalogueFile } from "@parley/mcp/node";
import { tasks } from "@parley/mcp/tasks";
import manifest from "../../package.json" with { type: "json" };
import type { CommandRun, Invocation } from "../commands/command.js";
import { serveUntilEnded, wordsWithoutPort } from "../serving/serving-place.js";
import { savedLogins } from "../target/saved-logins.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Io } from "../terminal/io.js";
import { parleyCommand } from "../terminal/parley-command.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { noteProblems, noteStatus } from "./gateway-notes.js";
import { type GatewayServers, gatewayServers, isProgramConfig } from "./gateway-servers.js";
import { programConfig } from "./program-config.js";
import { beginServing, checkServing, servingConfigOf } from "./serving.js";
import { serveTree } from "./tree-socket.js";

/** `parley gateway`: serves the servers of a file as one server. */
export const gateway: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const { io } = terminal;
  const [word] = wordsWithoutPort(invocation);
  if (word !== undefined) throw new UsageError(`unexpected argument "${word}"`, "Name a file with --config.");
  const config = await programConfig(ownConfig(invocation));
  const found = gatewayServers(invocation, config);
  const serving = servingConfigOf(invocation, config);
  // Checked before any server is started, because a port in use is the most common mistake.
  await checkServing(serving);
  noteProblems(terminal, found);
  const name = options.text("as") ?? "parley-gateway";
  await using host = hostOf(found, config, io);
  const front = host.asServer({
    info: { name, version: manifest.version },
    tools: options.flag("search") ? "search" : "all",
    server: { ...config.server, extensions: [tasks()] },
  });
  const silent = noteStatus(terminal, host);
  io.signal.addEventListener("abort", silent, { once: true });
  await startHost(host, io.signal);
  await using handle = await beginServing(front, serving);
  const where = handle.url ?? "stdin and stdout";
  const startedAt = new Date().toISOString();
  const about = { name, version: manifest.version, startedAt, serving: where, files: found.files };
  await using tree = await serveTree(io, () => ({ ...about, tree: host.tree(), servers: host.status() }));
  if (tree.problem !== undefined) terminal.note(show`parley tree cannot show this gateway: ${tree.problem}`);
  const { green, dim } = terminal.noteStyle;
  const count = Object.values(found.servers).filter(({ disabled }) => disabled !== true).length;
  terminal.note(show`${green("serving")} ${count} ${count === 1 ? "server" : "servers"} as ${name} at ${where}`);
  if (handle.url !== undefined) terminal.note(show`${dim("try:")} ${parleyCommand(io)} list ${handle.url}`);
  await serveUntilEnded(handle, io);
  silent();
  await front.close();
  return EXIT.ok;
};

/**
 * If `--config` names a file with program settings, that file replaces the `parley.config.*` of the current folder.
 */
function ownConfig({ options, terminal: { io } }: Invocation): Io {
  const file = options.text("config");
  return file !== undefined && isProgramConfig(file) ? { ...io, env: { ...io.env, PARLEY_CONFIG: file } } : io;
}

function hostOf({ servers, files }: GatewayServers, config: LoadedConfig, io: Io): Host {
  return new Host({
    ...config.host,
    servers,
    client: { name: "parley-gateway", version: manifest.version, ...config.client, extensions: [tasks()] },
    auth: (server) => savedLogins({ ...servers[server]?.headers }, io),
    catalogue: catalogueFile(catalogueOf([...files, ...Object.keys(servers)], io)),
  });
}

/** The cache file for the lists of these servers. The gateway reads the file at its next start. */
function catalogueOf(what: readonly string[], { env, home, platform }: Io): string {
  const folder =
    platform === "win32"
      ? join(env["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "parley", "Cache")
      : platform === "darwin"
        ? join(home, "Library", "Caches", "parley")
        : join(env["XDG_CACHE_HOME"] ?? join(home, ".cache"), "parley");
  const digest = createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 32);
  return join(folder, "catalogues", `${digest}.json`);
}

async function startHost(host: Host, signal: AbortSignal): Promise<void> {
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  await Promise.race([host.start(), interrupted]);
}
