import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../free-port.js";
import type { LaneResult } from "../lane.js";
import { waitFor } from "../wait-for.js";

const run = promisify(execFile);
const START_MS = 15_000;

export function hasRedis(): boolean {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** What a lane comes to that needs Redis where there is none. */
export const WITHOUT_REDIS: LaneResult = {
  size: {},
  measures: [],
  notes: ["Skipped: there is no redis-server; scripts/system-packages.sh installs it."],
};

/** Redis servers of a lane: one, or the masters of a cluster. They keep all they have acknowledged over a restart. */
export class RedisServers {
  readonly ports: number[] = [];
  readonly #busPorts: number[] = [];
  readonly pids: number[] = [];
  restarts = 0;
  pauses = 0;
  readonly #folder: string;
  readonly #isCluster: boolean;
  readonly #running: (ChildProcess | undefined)[] = [];

  private constructor(folder: string, isCluster: boolean) {
    this.#folder = folder;
    this.#isCluster = isCluster;
  }

  static async start(folder: string, masters: number): Promise<RedisServers> {
    const servers = new RedisServers(folder, masters > 1);
    for (let at = 0; at < masters; at++) {
      servers.ports.push(await freePort());
      servers.#busPorts.push(await freePort());
      mkdirSync(join(folder, String(at)), { recursive: true });
      await servers.#startAt(at);
    }
    if (masters > 1) await servers.#makeCluster();
    return servers;
  }

  /** Stops a server in the middle of whatever it does, by force or in good order, and starts it on what it had stored. */
  async restart(at: number, awayMs: number): Promise<void> {
    await this.#end(at, this.restarts % 2 === 0 ? "SIGKILL" : "SIGTERM");
    this.restarts++;
    await new Promise((resolve) => setTimeout(resolve, awayMs));
    await this.#startAt(at);
  }

  /** Lets a server stand still: its connections stay open, and nothing answers. */
  async pause(at: number, ms: number): Promise<void> {
    this.#running[at]?.kill("SIGSTOP");
    this.pauses++;
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#running[at]?.kill("SIGCONT");
  }

  /** The names of all keys. */
  async keys(): Promise<string[]> {
    const lists = await Promise.all(this.ports.map((port) => cli(port, "--scan")));
    return lists.flatMap((text) => text.split("\n").filter((line) => line !== ""));
  }

  async stop(): Promise<void> {
    for (const at of this.#running.keys()) await this.#end(at, "SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #startAt(at: number): Promise<void> {
    const port = String(this.ports[at]);
    const server = spawn(
      "redis-server",
      [
        ...["--port", port, "--bind", "127.0.0.1", "--dir", join(this.#folder, String(at))],
        ...["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--loglevel", "warning"],
        ...(this.#isCluster ? ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"] : []),
        ...(this.#isCluster ? ["--cluster-port", String(this.#busPorts[at])] : []),
      ],
      { stdio: "ignore" },
    );
    this.#running[at] = server;
    this.pids.push(server.pid ?? 0);
    const answers = () =>
      cli(Number(port), "ping").then(
        (said) => said.trim() === "PONG",
        () => false,
      );
    if (!(await waitFor(answers, START_MS, 50))) throw new Error("redis-server does not answer");
  }

  async #end(at: number, signal: NodeJS.Signals): Promise<void> {
    const server = this.#running[at];
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGCONT");
    server.kill(signal);
    await ended;
  }

  async #makeCluster(): Promise<void> {
    const nodes = this.ports.map((port) => `127.0.0.1:${port}`);
    await run("redis-cli", ["--cluster", "create", ...nodes, "--cluster-yes"]);
    const joined = async () =>
      (await Promise.all(this.ports.map((port) => cli(port, "cluster", "info")))).every((info) =>
        info.includes("cluster_state:ok"),
      );
    if (!(await waitFor(joined, START_MS, 50))) throw new Error("the masters did not become a cluster");
  }
}

async function cli(port: number, ...command: string[]): Promise<string> {
  return (await run("redis-cli", ["-p", String(port), ...command], { timeout: 5_000 })).stdout;
}
