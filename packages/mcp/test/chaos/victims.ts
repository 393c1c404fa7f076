import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { Server } from "@parley/mcp";
import type { HostEntry } from "@parley/mcp/host";
import { isolatedPool, type NodeHandler, nodeHandler } from "@parley/mcp/node";
import { channelTransport, messagePortChannel, serveChannel } from "@parley/mcp/transport";
import { CALL, recordingServer } from "./recording-server.js";

/** A server of the host that can be struck down. */
export interface Victim {
  readonly name: string;
  readonly entry: HostEntry;
  /** Ends the server, or what leads to it, without a word; false if there is nothing to end at the moment. */
  strike(): boolean;
  close(): void | Promise<void>;
}

/** Where a run keeps its files. */
export interface RunFolder {
  readonly path: string;
  /** The file of calls that ran. */
  readonly runs: string;
}

export function runFolder(path: string): RunFolder {
  return { path, runs: join(path, "runs.txt") };
}

/** The file in which each process of one server writes its id, and those of processes that it started. */
export function pidFile({ path }: RunFolder, name: string): string {
  return join(path, `${name}.pids`);
}

/** The processes that a server ever had, the newest last. */
export function pidsOf(folder: RunFolder, name: string): number[] {
  const file = pidFile(folder, name);
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number) : [];
}

/** A process on pipes, which SIGKILL ends. `program` is started with the folder and the name. */
export function processVictim(folder: RunFolder, name: string, program: readonly string[]): Victim {
  const args = [...program, folder.path, name];
  return {
    name,
    entry: { command: process.execPath, args, trust: "trusted" },
    strike: newestStriker(folder, name),
    close() {},
  };
}

/** A server of this process whose tools run in other processes, which SIGKILL ends. `module` holds the tools. */
export function workerVictim(folder: RunFolder, name: string, module: URL): Victim {
  const env = {
    ...(process.env as Record<string, string>),
    CHAOS_RUNS: folder.runs,
    CHAOS_PIDS: pidFile(folder, name),
  };
  const pool = isolatedPool({ kind: "process", size: 2, env });
  const server = new Server({ name, version: "1.0.0" })
    .tool("read", { input: CALL, annotations: { readOnlyHint: true } }, pool.tool(module, { export: "read" }))
    .tool("write", { input: CALL }, pool.tool(module, { export: "write" }));
  return {
    name,
    entry: { server, trust: "trusted" },
    strike: newestStriker(folder, name),
    close: () => pool.close(),
  };
}

/** A server of this process behind a port, which is closed. */
export function portVictim(folder: RunFolder, name: string): Victim {
  const server = recordingServer(folder.runs);
  let current: { close(): void } | undefined;
  const makeTransport = () => {
    const { port1, port2 } = new MessageChannel();
    serveChannel(server, messagePortChannel(port2));
    current = port2;
    return channelTransport(messagePortChannel(port1), name);
  };
  return {
    name,
    entry: { server: { makeTransport }, trust: "trusted" },
    strike() {
      const struck = current !== undefined;
      current?.close();
      current = undefined;
      return struck;
    },
    close: () => current?.close(),
  };
}

/** An HTTP server with sessions, whose sockets are cut and which forgets its sessions. */
export async function httpVictim(folder: RunFolder, name: string): Promise<Victim> {
  const served = () => nodeHandler(recordingServer(folder.runs, { revisions: ["2025-11-25"] }));
  let handler: NodeHandler = served();
  const listener = createServer((request, response) => handler(request, response));
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  return {
    name,
    entry: { url: `http://127.0.0.1:${port}/mcp`, trust: "trusted" },
    strike() {
      listener.closeAllConnections();
      void handler.close();
      handler = served();
      return true;
    },
    async close() {
      listener.closeAllConnections();
      await handler.close();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** Ends the newest process of a server, once. */
function newestStriker(folder: RunFolder, name: string): () => boolean {
  let struck: number | undefined;
  return () => {
    const pid = pidsOf(folder, name).at(-1);
    if (pid === undefined || pid === struck) return false;
    struck = pid;
    return kill(pid);
  };
}

function kill(pid: number): boolean {
  try {
    process.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}
