import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getuid, pid } from "node:process";
import { McpError } from "@parley/mcp";
import type { ServerStatus } from "@parley/mcp/host";
import type { SupervisorTree } from "@parley/mcp/supervision";
import type { Io } from "../terminal/io.js";

/** What a gateway tells about itself. */
export interface GatewayReport {
  readonly pid: number;
  readonly name: string;
  readonly version: string;
  readonly startedAt: string;
  /** The address of its endpoint, or that it serves a pipe. */
  readonly serving: string;
  readonly files: readonly string[];
  readonly tree: SupervisorTree;
  readonly servers: Readonly<Record<string, ServerStatus>>;
}

/** A gateway that can be looked at. */
interface OfferedTree extends AsyncDisposable {
  /** Why it cannot. */
  readonly problem?: string;
}

const PIPES = "\\\\.\\pipe\\";
const SOCKET = /^gateway-(\d{1,10})\.sock$/;
const PIPE = /^parley-gateway-(\d{1,10})$/;
/** Longest exchange: nobody keeps a gateway busy by reading slowly. */
const READ_MS = 5_000;
const MOST_READERS = 16;
const MOST_GATEWAYS = 1_000;
const MAX_REPORT_BYTES = 16 * 1024 * 1024;

/**
 * Lets `parley tree` of the same user look: whoever connects to a socket in the user's own folder gets one JSON document. What is
 * sent to it is not read. A gateway that cannot offer it serves nevertheless.
 */
export async function offerTree(io: Io, describe: () => Omit<GatewayReport, "pid">): Promise<OfferedTree> {
  const server = createServer((socket) => answer(socket, () => JSON.stringify({ pid, ...describe() })));
  server.maxConnections = MOST_READERS;
  try {
    const path = await ownSocket(io);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
  } catch (reason) {
    const { message, fix } = McpError.from(reason);
    return { problem: `${message}. ${fix}`.trimEnd(), [Symbol.asyncDispose]: async () => {} };
  }
  return { [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())) };
}

/** Where this process offers it: a named pipe on Windows, elsewhere a socket that only the user can reach. */
async function ownSocket(io: Io): Promise<string> {
  if (io.platform === "win32") return `${PIPES}parley-gateway-${pid}`;
  const path = join(privateFolder(runtimeFolder(io)), `gateway-${pid}.sock`);
  // One of this number is of a dead process, as are those that refuse to answer.
  rmSync(path, { force: true });
  await gatewayReports(io);
  return path;
}

function answer(socket: Socket, document: () => string): void {
  const late = setTimeout(() => socket.destroy(), READ_MS);
  socket.on("close", () => clearTimeout(late));
  socket.on("error", () => {});
  socket.resume();
  socket.end(document());
}

/** The gateways of this user that run, in the order of their numbers. Sockets that nobody answers are removed. */
export async function gatewayReports(io: Io): Promise<GatewayReport[]> {
  const reports = await Promise.all(socketsOf(io).map((path) => reportAt(path, io.platform !== "win32")));
  return reports.filter((report) => report !== undefined).sort((a, b) => a.pid - b.pid);
}

function socketsOf(io: Io): string[] {
  const folder = io.platform === "win32" ? PIPES : runtimeFolder(io);
  if (io.platform !== "win32") {
    if (!existsSync(folder)) return [];
    checkPrivate(folder);
  }
  const pattern = io.platform === "win32" ? PIPE : SOCKET;
  const names = readdirSync(folder).filter((name) => pattern.test(name));
  return names.slice(0, MOST_GATEWAYS).map((name) => (io.platform === "win32" ? PIPES + name : join(folder, name)));
}

async function reportAt(path: string, removable: boolean): Promise<GatewayReport | undefined> {
  try {
    const report: unknown = JSON.parse(await readAll(path));
    return isReport(report) ? report : undefined;
  } catch (reason) {
    // Only a socket whose process is dead refuses; one that is slow or busy is left alone.
    if (removable && (reason as NodeJS.ErrnoException).code === "ECONNREFUSED") rmSync(path, { force: true });
    return undefined;
  }
}

function readAll(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const socket = connect(path);
    const late = setTimeout(() => socket.destroy(new Error("no answer")), READ_MS);
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      if (bytes > MAX_REPORT_BYTES) socket.destroy(new Error(`more than ${MAX_REPORT_BYTES} bytes`));
      else chunks.push(chunk);
    });
    socket.on("error", reject);
    socket.on("close", () => {
      clearTimeout(late);
      resolve(Buffer.concat(chunks).toString());
    });
  });
}

function isReport(value: unknown): value is GatewayReport {
  if (typeof value !== "object" || value === null) return false;
  const report: Partial<Record<keyof GatewayReport, unknown>> = value;
  return (
    typeof report.pid === "number" &&
    [report.name, report.version, report.startedAt, report.serving].every((text) => typeof text === "string") &&
    typeof report.tree === "object" &&
    typeof report.servers === "object"
  );
}

/** The folder of this user for sockets; it may not exist. */
function runtimeFolder({ env }: Pick<Io, "env">): string {
  const given = env["XDG_RUNTIME_DIR"];
  if (given !== undefined && given !== "" && existsSync(given)) return join(given, "parley");
  return join(tmpdir(), `parley-${getuid?.() ?? 0}`);
}

/** Makes the folder if it is missing. Throws if others could use it: whoever is first in a common folder chooses the names there. */
function privateFolder(path: string): string {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== "EEXIST") throw reason;
  }
  checkPrivate(path);
  return path;
}

/** Throws if the folder is not the user's alone. */
function checkPrivate(path: string): void {
  // Not what a link leads to: the link itself may be somebody else's.
  const stat = lstatSync(path);
  if (!stat.isDirectory()) throw unsafe(`${path} is no folder`, "Remove it.");
  if (stat.uid !== getuid?.()) throw unsafe(`${path} belongs to another user`, "Remove it, or set XDG_RUNTIME_DIR.");
  if ((stat.mode & 0o077) !== 0) throw unsafe(`others can use the folder ${path}`, `Run \`chmod 700 ${path}\`.`);
}

function unsafe(message: string, fix: string): McpError {
  return new McpError("connect_failed", message, { fix });
}
