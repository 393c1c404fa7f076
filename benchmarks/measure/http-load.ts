import { type ChildProcess, execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startHttp, stop } from "../child.js";
import type { Bench, Contender, Effort, MessageEra } from "../contender.js";
import { assertSum, callText, initializedText, initializeText, requestHeaders, stepsText } from "../messages.js";
import { benchToken } from "../programs/protected-token.js";
import { processorTime, timePerAnswer } from "./process-figures.js";

const run = promisify(execFile);

const CONNECTIONS = 32;
/** As many as there are connections, so that each has one of its own. */
const SESSIONS = CONNECTIONS;

/** Requests per second and the slowest hundredth of them, under `wrk` with one thread and 32 connections. */
export function httpLoad(contender: Contender, effort: Effort): Promise<Bench> {
  return load(contender, effort);
}

/** As `httpLoad`, one request after the other over one connection, so that none waits for another. */
export function httpLatency(contender: Contender, effort: Effort): Promise<Bench> {
  return load(contender, effort, {}, 1);
}

/** As `httpLoad`, with a tool that reports progress, so that every answer is an event stream. */
export function httpEventLoad(contender: Contender, effort: Effort): Promise<Bench> {
  return load(contender, effort, { text: stepsText });
}

/** As `httpLoad`, with a token; a server that is not protected ignores it. */
export async function httpProtectedLoad(contender: Contender, effort: Effort): Promise<Bench> {
  const headers = { authorization: `Bearer ${await benchToken()}` };
  return load(contender, effort, { headers });
}

/** As `httpLoad`, in sessions that were opened by a handshake; a bare program ignores them. */
export function httpSessionLoad(contender: Contender, effort: Effort): Promise<Bench> {
  const open = (url: string) => Promise.all(Array.from({ length: SESSIONS }, () => openSession(url)));
  return load(contender, effort, { open });
}

async function load(
  contender: Contender,
  effort: Effort,
  options: LoadOptions = {},
  connections = CONNECTIONS,
): Promise<Bench> {
  const { child, wrk, close } = await loaded(contender, options);
  const seconds = Math.max(1, Math.round(effort.roundMs / 1000));
  return {
    async round() {
      const before = processorTime(child.pid);
      const { requests, ...figures } = await wrk(connections, seconds);
      return { ...figures, ...timePerAnswer(before, child.pid, requests) };
    },
    close,
  };
}

/** A server that has answered once and can be put under load. */
export interface LoadedServer {
  readonly child: ChildProcess;
  /** Loads it over as many connections, for as long. */
  wrk(connections: number, seconds: number): Promise<ReturnType<typeof readSummary> & { loadCores: number }>;
  close(): Promise<void>;
}

interface LoadOptions {
  readonly open?: (url: string) => Promise<Session[]>;
  readonly text?: typeof callText;
  /** Headers beside those of the protocol. */
  readonly headers?: Record<string, string>;
  /** Options for Node. */
  readonly node?: readonly string[];
}

/** Starts a server and makes the requests with which it is loaded. */
export async function loaded(
  contender: Contender,
  { open = async () => [], text = callText, headers = {}, node }: LoadOptions = {},
): Promise<LoadedServer> {
  const { era = "2026", program } = contender;
  const { child, url } = await startHttp(node === undefined ? program : { ...program, node });
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const script = join(folder, "load.lua");
  const close = async () => {
    rmSync(folder, { recursive: true, force: true });
    await stop(child);
  };
  try {
    const sessions = await open(url);
    const all = { ...callHeaders(era, sessions[0]), ...headers };
    const reply = await post(url, text(era, 1), all);
    const isStream = reply.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (text === stepsText && !isStream) throw new Error(`${contender.title} did not answer by an event stream`);
    assertSum(await reply.text(), contender.title);
    writeFileSync(script, loadScript(text(era, 987654321), new URL(url).pathname, all, sessions));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    child,
    close,
    async wrk(connections, seconds) {
      const words = ["wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "-s", script, url];
      // The shell knows what its program took of the processors, which is taken from the server where both share them.
      const timed = 'TIMEFORMAT="took %U %S"; time "$@"';
      const { stdout, stderr } = await run("bash", ["-c", timed, ...words.slice(0, 1), ...words]);
      return { ...readSummary(stdout), loadCores: coresTaken(stderr, seconds) };
    },
  };
}

/** What a handshake gave; a server without sessions gives no id. */
export interface Session {
  readonly id: string;
  readonly revision: string;
}

function callHeaders(era: MessageEra, session: Session | undefined): Record<string, string> {
  return { ...requestHeaders(era, "tools/call", "add"), ...(session === undefined ? {} : sessionHeaders(session)) };
}

function sessionHeaders({ id, revision }: Session): Record<string, string> {
  return { "mcp-protocol-version": revision, ...(id === "" ? {} : { "mcp-session-id": id }) };
}

function post(url: string, body: string, headers: Record<string, string>): Promise<Response> {
  return fetch(url, { method: "POST", body, headers });
}

/** Shakes hands and gives what belongs to every later request. */
export async function openSession(url: string): Promise<Session> {
  const reply = await post(url, initializeText, requestHeaders("2025", "initialize"));
  const text = await reply.text();
  const revision = /"protocolVersion":\s*"([^"]+)"/.exec(text)?.[1];
  if (!reply.ok || revision === undefined) throw new Error(`no session: ${text.slice(0, 300)}`);
  const session = { id: reply.headers.get("mcp-session-id") ?? "", revision };
  const taken = await post(url, initializedText, { ...requestHeaders("2025", ""), ...sessionHeaders(session) });
  await taken.text();
  return session;
}

/** Requests are made before the load begins; ids repeat only after 1,024, so that none is in flight twice. */
function loadScript(text: string, path: string, common: Record<string, string>, sessions: readonly Session[]): string {
  const [before, after] = text.split("987654321");
  const headers = Object.entries(common).map(([name, value]) => `["${name}"]="${value}"`);
  return `
local sessions = {${sessions.map(({ id }) => `"${id}"`).join(",")}}
local requests = {}
local at = 0
function init(args)
  for i = 1, 1024 do
    local headers = {${headers.join(",")}}
    local session = sessions[(i - 1) % 32 + 1]
    if session and session ~= "" then headers["mcp-session-id"] = session end
    requests[i] = wrk.format("POST", "${path}", headers, [==[${before}]==] .. i .. [==[${after}]==])
  end
end
function request()
  at = at % 1024 + 1
  return requests[at]
end
function done(summary, latency, requests)
  local errors = summary.errors
  local bad = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  local at = function(share) return latency:percentile(share) end
  io.write(string.format("figures %d %d %d %d %d %d\\n", summary.requests, summary.duration, bad, at(50), at(95), at(99)))
end
`;
}

/** How many processors the load generator kept busy. */
function coresTaken(output: string, seconds: number): number {
  const [, user = 0, system = 0] = (/^took ([\d.]+) ([\d.]+)$/m.exec(output) ?? []).map(Number);
  return (user + system) / seconds;
}

function readSummary(output: string) {
  const found = /^figures (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output);
  if (found === null) throw new Error(`wrk said nothing that can be read: ${output.slice(-300)}`);
  const [requests = 0, micros = 1, bad = 0, p50 = 0, p95 = 0, p99 = 0] = found.slice(1).map(Number);
  if (bad > 0) throw new Error(`${bad} of ${requests} requests failed`);
  return { requests, perSecond: (requests / micros) * 1e6, p50Micros: p50, p95Micros: p95, p99Micros: p99 };
}
