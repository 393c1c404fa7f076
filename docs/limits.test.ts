import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { region } from "./region.js";

const sources = resolve(import.meta.dirname, "../packages/mcp/src");

/** Where limits are declared: how a program sets them, the file, the type, which members are limits, and what one usually ends. */
const DECLARED = [
  ["`new Server(info, { limits })`", "server/contract/options.ts", "ServerLimits", /./, "call"],
  ["a tool, or `tools` of a server", "server/contract/tool.ts", "ToolPolicy", /^(timeoutMs|maxResultBytes)$/, "call"],
  ["a tool", "server/contract/tool.ts", "ToolDefinition", /^(concurrency|rate)$/, "call"],
  ["`quotas`: `perPrincipal`, `perServer`", "server/contract/quota-options.ts", "Quota", /./, "request"],
  ["`quotas`: `perPrincipal`", "server/contract/quota-options.ts", "PrincipalQuota", /./, "request"],
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
  ["`connect`", "client/contract/options.ts", "ClientOptions", /^max/, "call"],
  ["`isolated`, `isolatedPool`", "node/isolate/isolated.ts", "IsolatedPoolOptions", /^(memoryMb|size|queue)$/, "call"],
  ["`isolated`, a tool of a pool", "node/isolate/isolated.ts", "PooledToolOptions", /^timeoutMs$/, "call"],
  [
    "a server of a host",
    "host/options.ts",
    "HostServer",
    /^(startMs|callMs|concurrency|queue|perSecond|burst|maxMessageBytes)$/,
    "call",
  ],
  ["`new Host`", "host/options.ts", "HostOptions", /^(startWaitMs|waitMs)$/, "call"],
  ["`memoryStorage({ limits })`", "storage/memory.ts", "MemoryLimits", /./, "request"],
] as const;

/** A test that goes beyond each limit: `path below packages/mcp › part of its title`. */
const PROVOKED: Readonly<Record<string, string>> = {
  "ServerLimits.answerMs":
    "src/server/questions/by-request.test.ts › is given up after `limits.answerMs`, and the error names the limit",
  "ServerLimits.stateBytes":
    "test/questions/sealed-state.test.ts › has a size, rounds have a number, and questions of a round too",
  "ServerLimits.rounds":
    "test/questions/sealed-state.test.ts › has a size, rounds have a number, and questions of a round too",
  "ServerLimits.questions":
    "test/questions/sealed-state.test.ts › has a size, rounds have a number, and questions of a round too",
  "ServerLimits.clientLength":
    "test/http/large-clients.test.ts › is refused by name of the limit, so that few sessions cannot take the place of all",
  "ServerLimits.subscriptions":
    "src/server/changes/subscriptions.test.ts › are bounded, and the refusal names the limit",
  "ServerLimits.subscriptionLength": 'src/server/sources/hostile-offers.test.ts › limit: "subscriptionLength"',
  "ServerLimits.totalSubscriptionLength":
    "test/http/large-clients.test.ts › all subscribers together meet a limit, and what ends is given back",
  "ServerLimits.listensPerPeer":
    "src/server/changes/subscriptions.test.ts › are bounded per client and for the whole server, and the refusal names the limit",
  "ServerLimits.listens":
    "src/server/changes/subscriptions.test.ts › are bounded per client and for the whole server, and the refusal names the limit",
  "ServerLimits.calls":
    "src/server/tools/call.test.ts › is limited per server; a full queue refuses and names the limit",
  "ServerLimits.callsPerPrincipal":
    "src/server/tools/call-limit.test.ts › wait for their own places while others are free, and are refused before they fill the queue",
  "ServerLimits.queuedCalls":
    "src/server/tools/call.test.ts › is limited per server; a full queue refuses and names the limit",
  "ToolPolicy.timeoutMs":
    "src/server/tools/call.test.ts › is limited by `timeoutMs`: the signal aborts and the model is told",
  "ToolPolicy.maxResultBytes":
    "test/scenarios/cases/tools-result-limit.ts › a result beyond its limit is cut, with a note for the model",
  "ToolDefinition.concurrency":
    "test/scenarios/cases/tools-concurrency.ts › no more calls of a tool run at once than it allows",
  "ToolDefinition.rate": "test/limits/quotas.test.ts › share the buckets of a caller and of a tool",
  "Quota.rate":
    "test/limits/quotas.test.ts › is refused beyond its rate with a hint for the model, and others are served",
  "Quota.calls": "test/limits/quotas.test.ts › are bounded for each caller, counted on the %s",
  "Quota.streams":
    "test/limits/places.test.ts › are refused beyond the quota, also those of other sessions, and free their places when they end",
  "PrincipalQuota.sessions":
    "test/limits/places.test.ts › are refused beyond the quota with the time to wait; those of others are not",
  "TaskLimits.running": "test/extensions/tasks/hostile.test.ts › a refused call leaves nothing behind",
  "TaskLimits.runningPerPrincipal":
    "test/extensions/tasks/hostile.test.ts › per principal leave other principals alone, and are free again when a task is over",
  "TaskLimits.keptPerPrincipal": "test/extensions/tasks/hostile.test.ts › are free again when a kept task has expired",
  "TaskLimits.kept": "test/extensions/tasks/hostile.test.ts › are free again when a kept task has expired",
  "TaskLimits.taskLength":
    "test/extensions/tasks/hostile.test.ts › `taskLength` refuses a call that is too long to be kept",
  "HttpLimits.maxMessageBytes":
    "test/http/leaving.test.ts › answers a body that is too long so that its sender can read the answer",
  "HttpLimits.maxUnfinishedBytes":
    "test/http/admission.test.ts › are bounded together, and give back what they held when their senders leave",
  "HttpLimits.maxBatchItems": "test/http/admission.test.ts › include each request of an array",
  "HttpLimits.maxInFlight":
    "test/http/admission.test.ts › count as requests: beyond `maxInFlight` another is refused at once",
  "HttpLimits.maxInFlightPerPrincipal":
    "test/http/admission.test.ts › are shared: one principal cannot take all places",
  "HttpLimits.maxStreams":
    "test/http/expiry.test.ts › is not opened beyond the limit: the request is refused with 503 and cancelled",
  "HttpLimits.maxStreamsPerPrincipal":
    "test/limits/provoked.test.ts › `maxStreamsPerPrincipal` refuses a further stream of the same principal",
  "HttpLimits.maxQueuedBytes":
    "test/http/expiry.test.ts › that nobody reads is closed when too much waits for its reader",
  "HttpLimits.maxUnsentBytes": "test/http/drain.test.ts › are cut, the oldest first, beyond `maxUnsentBytes`",
  "HttpLimits.maxSessions":
    "test/http/expiry.test.ts › is refused with 503 when the node is full, unless the oldest was idle for long",
  "HttpLimits.maxSessionsPerPrincipal":
    "test/http/expiry.test.ts › is held by each principal up to a limit, where the one that was idle for the longest time gives way",
  "HttpLimits.maxStreamsPerSession": "test/http/sessions.test.ts › refuse a further stream only beyond the limit",
  "HttpLimits.maxInFlightPerSession":
    "test/limits/provoked.test.ts › `maxInFlightPerSession` refuses a further request of the same session",
  "ServeChannelOptions.maxInFlight":
    "src/jsonrpc/connection.test.ts › refuses more requests at once than its limit, and names the limit",
  "ServeChannelOptions.maxFaults":
    "src/jsonrpc/connection.test.ts › ends the connection when there is nothing else, a hundred times in a row",
  "QueueLimits.maxQueuedMessages":
    "test/stdio/send-queue.test.ts › is waited for by a bounded queue, in order; what does not fit is refused by name",
  "QueueLimits.maxQueuedBytes":
    "test/mutants/missing-cases.test.ts › what waits for a peer that does not read is bounded in number and in length",
  "ServeSocketOptions.maxConnections":
    "test/limits/provoked.test.ts › `maxConnections` of `serveSocket` closes a further connection",
  "ServeWebSocketOptions.maxConnections":
    "test/stdio/socket-waits.test.ts › counts those who wait against the limit of connections (WebSocket)",
  "ServeWebSocketOptions.maxMessageBytes":
    "test/stdio/sockets.test.ts › a message above `maxMessageBytes` ends the connection with a reason",
  "ClientOptions.maxRounds":
    "test/client/questions.test.ts › MRTR-09: rounds are bounded, and the error names the option",
  "ClientOptions.maxQuestions": "test/client/questions.test.ts › questions are bounded over all rounds of a call",
  "ClientOptions.maxMessageBytes": "test/client/errors.test.ts › oversized_frame",
  "IsolatedPoolOptions.memoryMb": "test/isolate/isolated-tools.test.ts › memory than its limit of 32 MB (memoryMb)",
  "IsolatedPoolOptions.size":
    "test/isolate/isolated-tools.test.ts › runs 50 calls at once in few workers, and refuses more than may wait",
  "IsolatedPoolOptions.queue":
    "test/isolate/isolated-tools.test.ts › runs 50 calls at once in few workers, and refuses more than may wait",
  "PooledToolOptions.timeoutMs": "test/isolate/isolated-tools.test.ts › did not finish within its limit of 200 ms",
  "HostServer.maxMessageBytes":
    "test/limits/provoked.test.ts › `maxMessageBytes` of a server of a host refuses a longer answer",
  "HostServer.startMs": "test/limits/provoked.test.ts › `startMs` ends a start that takes longer",
  "HostServer.callMs": "test/limits/provoked.test.ts › `callMs` ends a call that takes longer",
  "HostServer.concurrency":
    "test/host/host.test.ts › get no more calls than they take, and what is refused says why and when to come again",
  "HostServer.queue":
    "src/host/connection/call-gate.test.ts › refuses what finds the queue full, and says what to change",
  "HostServer.perSecond":
    "src/host/connection/call-gate.test.ts › lets calls wait for the rate, and refuses by its name",
  "HostServer.burst":
    "src/platform/token-bucket.test.ts › starts full, gains tokens at its rate, and holds no more than its burst",
  "HostOptions.startWaitMs": "test/limits/provoked.test.ts › `startWaitMs` lets `start` return before",
  "HostOptions.waitMs": "test/host/recovery/lost-connections.test.ts › that wait for it have a bound",
  "MemoryLimits.maxKeys": "src/storage/memory.test.ts › refuses a key beyond maxKeys by name",
  "MemoryLimits.maxStreams":
    "src/storage/memory.test.ts › refuses streams and subscriptions beyond their limits by name",
  "MemoryLimits.maxSubscriptions":
    "src/storage/memory.test.ts › refuses streams and subscriptions beyond their limits by name",
  "MemoryLimits.maxBytes": "src/storage/memory.test.ts › refuses bytes beyond maxBytes over keys and logs together",
};

/** How much a peer loses that goes beyond a limit. */
const SEVERITY = { request: "low", call: "medium", connection: "high" } as const;

interface Limit {
  /** The type and the member that declare it. */
  readonly key: string;
  readonly name: string;
  readonly where: string;
  readonly meaning: string;
  readonly ends: "call" | "request" | "connection";
}

/** The limits of one declaration, with the words of its comments. */
function limitsOf([where, file, type, wanted, usual]: (typeof DECLARED)[number]): Limit[] {
  const text = readFileSync(join(sources, file), "utf8");
  const body = new RegExp(`export interface ${type}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(text)?.[1] ?? "";
  const members = body.matchAll(/ {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}(?:readonly )?(\w+)\??:/g);
  return [...members]
    .map(([, comment = "", name = ""]) => ({
      key: `${type}.${name}`,
      name,
      where,
      meaning: comment.replace(/\s*\n\s*\*?\s*/g, " ").trim(),
    }))
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
    const lines = limits.map(
      ({ name, where, meaning, ends }) => `| \`${name}\` | ${where} | ${meaning} | ${ends} | ${SEVERITY[ends]} |`,
    );
    const table = ["| limit | set in | meaning | ends | severity |", "|---|---|---|---|---|", ...lines, ""].join("\n");
    expect(region("docs/limits.md", "limits", table)).toBe(table);
  });

  it.each(limits.map(({ key }) => key))("%s is provoked by a test", (key) => {
    const [path = "", title = ""] = (PROVOKED[key] ?? "").split(" › ");
    expect(path, `PROVOKED has no test for ${key}`).not.toBe("");
    expect(readFileSync(join(sources, "..", path), "utf8")).toContain(title);
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
