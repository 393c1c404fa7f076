import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getuid, pid } from "node:process";
import { McpError } from "@parley/mcp";
import type { ServerStatus } from "@parley/mcp/host";
import type { SupervisorTree } from "@parley/mcp/supervision";
import type { Io } from "../terminal/io.js";

/** The report of a gateway about itself. */
export interface GatewayReport {
  readonly pid: number;
  readonly name: string;
  readonly version: string;
  readonly startedAt: string;
  /** The URL of the gateway's endpoint, or `stdin and stdout`. */
  readonly serving: string;
  readonly files: readonly string[];
  readonly tree: SupervisorTree;
  readonly servers: Readonly<Record<string, ServerStatus>>;
}

/** The socket on which a gateway answers `parley tree`. */
interface TreeSocket extends AsyncDisposable {
  /** The reason why the socket could not be opened. Absent if it is open. */
  readonly problem?: string;
}

const PIPES = "\\\\.\\pipe\\";
const SOCKET = /^gateway-(\d{1,10})\.sock$/;
const PIPE = /^parley-gateway-(\d{1,10})$/;
/** Time limit for one exchange, so that a slow reader cannot occupy a gateway. */
const READ_MS = 5_000;
const MAX_READERS = 16;
const MAX_GATEWAYS = 1_000;
const MAX_REPORT_BYTES = 16 * 1024 * 1024;

/**
 * Answers `parley tree` runs of the same user: each connection to a socket in the user's own folder receives one JSON
 * document. Incoming data is ignored. If the socket cannot be opened, the gateway serves without it.
 */
export async function serveTree(io: Io, describe: () => Omit<GatewayReport, "pid">): Promise<TreeSocket> {
  const server = createServer((socket) => answer(socket, () => JSON.stringify({ pid, ...describe() })));
  server.maxConnections = MAX_READERS;
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

/** The address of this process's socket: a named pipe on Windows, elsewhere a file that only the user can reach. */
async function ownSocket(io: Io): Promise<string> {
  if (io.platform === "win32") return `${PIPES}parley-gateway-${pid}`;
  const path = join(privateFolder(runtimeFolder(io)), `gateway-${pid}.sock`);
  // An existing socket with this pid belongs to a dead process. `gatewayReports` removes the sockets of other dead
  // processes.
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

/** Returns the running gateways of this user, sorted by pid. Removes the sockets of dead processes. */
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
  return names.slice(0, MAX_GATEWAYS).map((name) => (io.platform === "win32" ? PIPES + name : join(folder, name)));
}

async function reportAt(path: string, removable: boolean): Promise<GatewayReport | undefined> {
  try {
    const report: unknown = JSON.parse(await readAll(path));
    return isReport(report) ? report : undefined;
  } catch (reason) {
    // Only the socket of a dead process refuses connections. The socket of a slow or busy gateway is not removed.
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

/** The user's folder for sockets. It may not exist. */
function runtimeFolder({ env }: Pick<Io, "env">): string {
  const given = env["XDG_RUNTIME_DIR"];
  if (given !== undefined && given !== "" && existsSync(given)) return join(given, "parley");
  return join(tmpdir(), `parley-${getuid?.() ?? 0}`);
}

/**
 * Creates the folder if it is missing. Throws if other users could use the folder: in a shared parent folder, any user
 * can create a folder of this name first.
 */
function privateFolder(path: string): string {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== "EEXIST") throw reason;
  }
  checkPrivate(path);
  return path;
}

/** Throws if other users can use the folder. */
function checkPrivate(path: string): void {
  // `lstat`, not `stat`, so that a link is refused. A link could belong to another user.
  const stat = lstatSync(path);
  if (!stat.isDirectory()) throw unsafe(`${path} is not a folder`, "Remove it.");
  if (stat.uid !== getuid?.()) throw unsafe(`${path} belongs to another user`, "Remove it, or set XDG_RUNTIME_DIR.");
  if ((stat.mode & 0o077) !== 0) throw unsafe(`other users can use the folder ${path}`, `Run \`chmod 700 ${path}\`.`);
}

function unsafe(message: string, fix: string): McpError {
  return new McpError("connect_failed", message, { fix });
}
