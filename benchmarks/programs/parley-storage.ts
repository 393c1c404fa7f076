// A server on a storage of its own: `none`, `sqlite` or `redis`, in one process or in as many workers as are asked for.
import { spawn } from "node:child_process";
import cluster from "node:cluster";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { serveHttp } from "@parley/mcp/node";
import type { Storage } from "@parley/mcp/storage";
import { listening } from "../rounds.mjs";
import { parleyServer } from "./parley-server.js";

const [kind = "none", workers = "1"] = process.argv.slice(2);
const SECRET = "0123456789abcdef0123456789abcdef";

if (cluster.isWorker) await serve(process.env["PLACE"] ?? "");
else {
  const place = await prepare();
  if (workers === "1") listening((await serve(place)).url);
  else listening(await startWorkers(place));
}

async function serve(place: string) {
  const storage = await storageAt(place);
  const server = parleyServer(1, storage === undefined ? {} : { storage, secret: SECRET });
  return serveHttp(server, { port: Number(process.env["PORT"] ?? 0) });
}

/** Imported here, because not every Node has SQLite and nobody pays for what is not measured. */
async function storageAt(place: string): Promise<Storage | undefined> {
  if (kind === "sqlite") return (await import("@parley/mcp/storage/sqlite")).sqliteStorage({ file: place });
  if (kind === "redis") return (await import("@parley/redis")).redisStorage({ url: place });
  return undefined;
}

async function startWorkers(place: string): Promise<string> {
  const port = await freePort();
  const env = { PLACE: place, PORT: String(port) };
  const started = Array.from({ length: Number(workers) }, () => once(cluster.fork(env), "listening"));
  await Promise.all(started);
  return `http://127.0.0.1:${port}/mcp`;
}

/** Where the state is: a file or a Redis of this program alone, which both leave with it. */
async function prepare(): Promise<string> {
  if (kind === "none") return "";
  const folder = mkdtempSync(join(tmpdir(), "bench-storage-"));
  const port = kind === "redis" ? await freePort() : 0;
  const words = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"];
  const redis = kind === "redis" ? spawn("redis-server", words, { stdio: "ignore" }) : undefined;
  process.once("exit", () => {
    redis?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  process.once("SIGTERM", () => process.exit(0));
  if (redis === undefined) return join(folder, "state.db");
  for (let tries = 0; !(await accepts(port)); tries++) {
    if (tries === 100) throw new Error("redis-server does not start");
    await wait(50);
  }
  return `redis://127.0.0.1:${port}`;
}

function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const tried = new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  return tried.finally(() => socket.destroy());
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}
