import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { region } from "./region.js";

const sources = resolve(import.meta.dirname, "../packages/mcp/src");

/** Where limits are declared: how a program sets them, the file, the type, which members are limits, and what one usually ends. */
const DECLARED = [
  ["`new Server(info, { limits })`", "server/options.ts", "ServerLimits", /./, "call"],
  [
    "a tool, or `tools` of a server",
    "server/tools/tool-policy.ts",
    "ToolPolicy",
    /^(timeoutMs|maxResultBytes)$/,
    "call",
  ],
  ["a tool", "server/tools/tool.ts", "ToolDefinition", /^(concurrency|rate)$/, "call"],
  ["`quotas`: `perPrincipal`, `perServer`", "server/limits/quota-options.ts", "Quota", /./, "request"],
  ["`quotas`: `perPrincipal`", "server/limits/quota-options.ts", "PrincipalQuota", /./, "request"],
  ["`tasks({ limits })`", "extensions/tasks/task-options.ts", "TaskLimits", /./, "call"],
  [
    "`limits` of `serveHttp`, `fetchHandler`, `nodeHandler`",
    "transport/http/server/options.ts",
    "HttpLimits",
    /./,
    "request",
  ],
  ["sockets, WebSockets and pipes", "transport/channel/server.ts", "ServeChannelOptions", /^max/, "request"],
  ["the same", "transport/channel/outbox.ts", "QueueLimits", /^max/, "connection"],
  ["`serveSocket`", "node/socket/socket-server.ts", "ServeSocketOptions", /^max/, "connection"],
  ["`serveWebSocket`", "node/socket/websocket-server.ts", "ServeWebSocketOptions", /^max/, "connection"],
  ["`connect`", "client/options.ts", "ClientOptions", /^max/, "call"],
  ["`isolated`, `isolatedPool`", "node/isolate/isolated.ts", "IsolatedPoolOptions", /^(memoryMb|size|queue)$/, "call"],
  ["`isolated`, a tool of a pool", "node/isolate/isolated.ts", "PooledToolOptions", /^timeoutMs$/, "call"],
  [
    "a server of a host",
    "host/config/host-server.ts",
    "HostServer",
    /^(startMs|callMs|concurrency|queue|perSecond|burst|maxMessageBytes)$/,
    "call",
  ],
  ["`new Host`", "host/options.ts", "HostOptions", /^(startWaitMs|waitMs)$/, "call"],
] as const;

interface Limit {
  readonly name: string;
  readonly where: string;
  readonly meaning: string;
  readonly ends: "call" | "request" | "connection";
}

/** The limits of one declaration, with the words of its comments. */
function limitsOf([where, file, type, wanted, usual]: (typeof DECLARED)[number]): Limit[] {
  const text = readFileSync(join(sources, file), "utf8");
  const body = new RegExp(`export interface ${type}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(text)?.[1] ?? "";
  const members = body.matchAll(/ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}(\w+)\??:/g);
  return [...members]
    .map(([, comment = "", name = ""]) => ({ name, where, meaning: comment.replace(/\s*\n\s*\*?\s*/g, " ").trim() }))
    .filter(({ name }) => wanted.test(name))
    .map((limit) => ({ ...limit, ends: endOf(limit.meaning) ?? usual }));
}

function endOf(meaning: string): Limit["ends"] | undefined {
  if (/ends the connection|are closed|is closed|is cut|disconnect/i.test(meaning)) return "connection";
  return /reject|refuse|\b(409|413|429|503)\b/i.test(meaning) ? "request" : undefined;
}

const limits = DECLARED.flatMap(limitsOf);

describe("the limits", () => {
  it("are all on their page, with the words of their declarations", () => {
    const lines = limits.map(({ name, where, meaning, ends }) => `| \`${name}\` | ${where} | ${meaning} | ${ends} |`);
    const table = ["| limit | set in | meaning | ends |", "|---|---|---|---|", ...lines, ""].join("\n");
    expect(region("docs/limits.md", "limits", table)).toBe(table);
  });

  it("include every one that a refusal names", () => {
    const known = new Set(limits.map(({ name }) => name));
    const named = ["server", "client", "transport", "node"].flatMap((room) => refusedIn(room));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

/** The names in `data: { limit: "…" }` of a room's errors. */
function refusedIn(room: string): string[] {
  return readdirSync(join(sources, room), { recursive: true, encoding: "utf8" })
    .filter((file) => /(?<!\.test)\.ts$/.test(file))
    .map((file) => readFileSync(join(sources, room, file), "utf8"))
    .flatMap((text) => [...text.matchAll(/\blimit: "(?:limits\.)?(\w+)"/g)].map((match) => match[1] ?? ""));
}
