import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@redis/client";

/** A `redis-server` of a test, on a free loopback port, with its files in a temporary folder. */
export interface TestRedis {
  readonly port: number;
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  readonly pid: number;
  /** One command on a connection of its own, as text. */
  command(...args: string[]): Promise<unknown>;
  /** SIGSTOP: connections stay, nothing answers. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** SIGKILL, and a new, empty server on the same port after `downMs`. */
  restart(downMs?: number): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Ends the server and deletes its files. */
  stop(): Promise<void>;
}

/** A cluster of three masters, or of more servers with replicas. */
export interface TestCluster {
  readonly nodes: readonly TestRedis[];
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

/** Whether `redis-server` is installed; where it is not, tests that need it are skipped and say so. */
export const hasRedis: boolean = findRedis();

function findRedis(): boolean {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    console.log("skipped: redis-server is not installed (scripts/system-packages.sh installs it)");
    return false;
  }
}

/** Starts a server; `settings` are words of its command line, such as `["--maxmemory", "3mb"]`, `sentinel` the file of a Sentinel. */
export async function startRedis(settings: readonly string[] = [], sentinel?: string): Promise<TestRedis> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "parley-redis-"));
  const file = join(folder, "sentinel.conf");
  if (sentinel !== undefined) writeFileSync(file, sentinel);
  const start = () => startServer(port, folder, sentinel === undefined ? settings : [file, "--sentinel"]);
  let child = await start();
  const kill = () => ended(child, "SIGKILL");
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return child.pid ?? -1;
    },
    command: (...args) => commandOn(port, args),
    pause: () => child.kill("SIGSTOP"),
    resume: () => child.kill("SIGCONT"),
    async restart(downMs = 0) {
      await kill();
      await new Promise((resolve) => setTimeout(resolve, downMs));
      child = await start();
    },
    kill,
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a Sentinel that watches a server under the name `primary`, and may promote another one alone. */
export function startSentinel({ port }: TestRedis): Promise<TestRedis> {
  const lines = [
    `sentinel monitor primary 127.0.0.1 ${port} 1`,
    "sentinel down-after-milliseconds primary 500",
    "sentinel failover-timeout primary 3000",
  ];
  return startRedis([], lines.join("\n"));
}

/** Starts a cluster; with `replicas` each master gets so many. */
export async function startCluster(replicas = 0): Promise<TestCluster> {
  const count = 3 * (1 + replicas);
  const settings = [
    "--cluster-enabled",
    "yes",
    "--cluster-node-timeout",
    "1000",
    "--cluster-require-full-coverage",
    "no",
    "--repl-diskless-sync-delay",
    "0",
  ];
  const nodes = await Promise.all(Array.from({ length: count }, () => startRedis(settings)));
  const [first] = nodes;
  if (first === undefined) throw new Error("a cluster has servers");
  for (const [at, node] of nodes.entries()) {
    await node.command("CLUSTER", "SET-CONFIG-EPOCH", `${at + 1}`);
    if (at < 3)
      await node.command("CLUSTER", "ADDSLOTSRANGE", `${[0, 5461, 10923][at]}`, `${[5460, 10922, 16383][at]}`);
    if (at > 0) await node.command("CLUSTER", "MEET", "127.0.0.1", `${first.port}`);
  }
  await until(async () => {
    const known = await Promise.all(nodes.map((node) => node.command("CLUSTER", "INFO")));
    return known.every((info) => {
      const text = String(info);
      return text.includes("cluster_state:ok") && text.includes(`cluster_known_nodes:${count}`);
    });
  });
  for (const [at, node] of nodes.entries()) {
    if (at < 3) continue;
    const master = String(await nodes[at % 3]?.command("CLUSTER", "MYID"));
    await until(() =>
      node.command("CLUSTER", "REPLICATE", master).then(
        () => true,
        () => false,
      ),
    );
  }
  return {
    nodes,
    urls: nodes.map(({ url }) => url),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

/** Waits until something holds, for at most 20 s. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (performance.now() < end) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("this has not happened within 20 s");
}

async function startServer(port: number, folder: string, settings: readonly string[]): Promise<ChildProcess> {
  const words = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder];
  const keeps = settings.includes("--sentinel") ? [] : ["--save", "", "--appendonly", "no"];
  // The file of a Sentinel comes first.
  const child = spawn("redis-server", [...settings, ...words, ...keeps], { stdio: "ignore" });
  // A test that dies must not leave its server behind.
  const onExit = () => child.kill("SIGKILL");
  process.once("exit", onExit);
  child.once("exit", () => process.off("exit", onExit));
  await until(() =>
    commandOn(port, ["PING"]).then(
      () => true,
      // A server that wants a password lives too.
      (error: Error) => /NOAUTH/.test(error.message),
    ),
  );
  return child;
}

function ended(child: ChildProcess, signal: "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill(signal);
  });
}

async function commandOn(port: number, args: string[]): Promise<unknown> {
  const socket = { host: "127.0.0.1", port, reconnectStrategy: false as const };
  const client = createClient({ socket, maintNotifications: "disabled", disableClientInfo: true });
  client.on("error", () => {});
  try {
    await client.connect();
    return await client.sendCommand(args);
  } finally {
    client.destroy();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (typeof address === "object" && address !== null ? resolve(address.port) : reject(address)));
    });
  });
}
