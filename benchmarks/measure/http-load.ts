import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startHttp, stop } from "../child.js";
import type { Bench, Contender, Effort, MessageEra } from "../contender.js";
import { assertSum, callText, initializedText, initializeText, requestHeaders } from "../messages.js";
import { processorTime, timePerAnswer } from "./process-figures.js";

const run = promisify(execFile);

/** As many as there are connections, so that each has one of its own. */
const SESSIONS = 32;

/** Requests per second and the slowest hundredth of them, under `wrk` with one thread and 32 connections. */
export function httpLoad(contender: Contender, effort: Effort): Promise<Bench> {
  return load(contender, effort, async () => []);
}

/** As `httpLoad`, in sessions that were opened by a handshake; a bare program ignores them. */
export function httpSessionLoad(contender: Contender, effort: Effort): Promise<Bench> {
  return load(contender, effort, (url) => Promise.all(Array.from({ length: SESSIONS }, () => openSession(url))));
}

async function load(contender: Contender, effort: Effort, open: (url: string) => Promise<Session[]>): Promise<Bench> {
  const { era = "2026" } = contender;
  const { child, url } = await startHttp(contender.program);
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const script = join(folder, "load.lua");
  const close = async () => {
    rmSync(folder, { recursive: true, force: true });
    await stop(child);
  };
  try {
    const sessions = await open(url);
    const reply = await post(url, callText(era, 1), callHeaders(era, sessions[0]));
    assertSum(await reply.text(), contender.title);
    writeFileSync(script, loadScript(era, new URL(url).pathname, sessions));
  } catch (error) {
    await close();
    throw error;
  }
  const seconds = Math.max(1, Math.round(effort.roundMs / 1000));
  return {
    async round() {
      const before = processorTime(child.pid);
      const { stdout } = await run("wrk", ["-t1", "-c32", `-d${seconds}s`, "-s", script, url]);
      const { requests, ...figures } = readSummary(stdout);
      return { ...figures, ...timePerAnswer(before, child.pid, requests) };
    },
    close,
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
function loadScript(era: MessageEra, path: string, sessions: readonly Session[]): string {
  const [before, after] = callText(era, 987654321).split("987654321");
  const headers = Object.entries(callHeaders(era, sessions[0])).map(([name, value]) => `["${name}"]="${value}"`);
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
  io.write(string.format("figures %d %d %d %d\\n", summary.requests, summary.duration, bad, latency:percentile(99)))
end
`;
}

function readSummary(output: string) {
  const found = /^figures (\d+) (\d+) (\d+) (\d+)$/m.exec(output);
  if (found === null) throw new Error(`wrk said nothing that can be read: ${output.slice(-300)}`);
  const [requests = 0, micros = 1, bad = 0, p99 = 0] = found.slice(1).map(Number);
  if (bad > 0) throw new Error(`${bad} of ${requests} requests failed`);
  return { requests, perSecond: (requests / micros) * 1e6, p99Micros: p99 };
}
