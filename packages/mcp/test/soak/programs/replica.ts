// One replica of a server. What it runs leaves a line in a file that all replicas share, so that nothing is run twice unseen.
import { appendFileSync, readFileSync } from "node:fs";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { tasks } from "@parley/mcp/tasks";
import { redisStorage } from "@parley/redis";
import { answerCommands, settingsOf } from "./answer-commands.js";

export interface ReplicaSettings {
  readonly port: number;
  /** The ports of Redis: one, or those of a cluster. */
  readonly redis: readonly number[];
  /** Where the lines go. */
  readonly lines: string;
  /** Where the number of each principal's resource is. */
  readonly numbers: string;
  readonly idleMs: number;
}

const { port, redis, lines, numbers, idleMs } = settingsOf<ReplicaSettings>();

const INPUT = {
  type: "object",
  properties: { nonce: { type: "string" }, steps: { type: "integer" }, restMs: { type: "number" } },
  required: ["nonce", "steps", "restMs"],
} as const;
const ANSWER = { type: "object", properties: { word: { type: "string" } }, required: ["word"] } as const;
const LEASE_MS = 900;

type Auth = { readonly key: string } | undefined;

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const leave = (line: string) => appendFileSync(lines, `${line}\n`);
let runs = 0;

/** Notes that a call is run, and gives the answer that no other run gives. */
function begin(nonce: string, auth: Auth): { answer: string; end(): string } {
  const run = `${process.pid}.${++runs}`;
  const answer = `${nonce} ${run} secret-of-${auth?.key ?? "nobody"}`;
  leave(`run ${nonce} ${run} ${process.pid}`);
  return {
    answer,
    end() {
      leave(`end ${nonce} ${run} ${Date.now()}`);
      return answer;
    },
  };
}

const urls = redis.map((at) => `redis://127.0.0.1:${at}`);
const storage = redisStorage(urls.length > 1 ? { nodes: urls } : { url: urls[0] ?? "" });
const server = new Server(
  { name: "soak", version: "1.0.0" },
  {
    storage,
    secret: "soak soak soak soak soak soak soak soak",
    extensions: [tasks({ leaseMs: LEASE_MS, pollIntervalMs: 100, ttlMs: idleMs })],
  },
)
  .tool("look", { input: INPUT, annotations: { readOnlyHint: true } }, async ({ nonce, restMs }, ctx) => {
    const run = begin(nonce, ctx.auth);
    await rest(restMs);
    return run.end();
  })
  .tool("charge", { input: INPUT }, async ({ nonce, restMs }, ctx) => {
    const run = begin(nonce, ctx.auth);
    await rest(restMs);
    return run.end();
  })
  .tool("count", { input: INPUT }, async ({ nonce, steps, restMs }, ctx) => {
    const run = begin(nonce, ctx.auth);
    for (let step = 1; step <= steps; step++) {
      await rest(restMs);
      ctx.progress(step, { total: steps, message: run.answer });
    }
    return run.end();
  })
  .tool("ask", { input: INPUT }, async ({ nonce, restMs }, ctx) => {
    const { word } = await ctx.elicit(`word of ${nonce} secret-of-${ctx.auth?.key}`, ANSWER);
    // Without a session the handler begins again with the answer: only from here on it is the one run.
    const run = begin(nonce, ctx.auth);
    if (word !== `${nonce}!`) leave(`wrong ${nonce} ${word}`);
    await rest(restMs);
    return run.end();
  })
  .tool("task", { input: INPUT, task: "optional" }, async ({ nonce, steps, restMs }, ctx) => {
    for (let step = 1; step <= steps; step++) {
      await ctx.step(`${step}`, () => leave(`step ${nonce} ${step}`));
      await rest(restMs);
    }
    return `${nonce} task secret-of-${ctx.auth?.key}`;
  })
  .resourceTemplate("number://{principal}", { name: "number" }, ({ principal }, ctx) => {
    const owner = ctx.auth?.key ?? "nobody";
    return `${owner === principal ? readFileSync(`${numbers}-${owner}`, "utf8") : "foreign"} secret-of-${owner}`;
  });

const handle = await serveHttp(server, {
  port,
  host: "127.0.0.1",
  authenticate: (request) => {
    const key = request.header("authorization")?.replace(/^Bearer /, "");
    return key === undefined ? { status: 401 } : { key };
  },
  times: { streamAfterMs: 50, sessionIdleMs: idleMs, handshakeMs: idleMs / 2, eventAgeMs: idleMs, keepAliveMs: 2_000 },
});

answerCommands(
  { port: handle.port },
  {
    changed: (principal: string) => server.resourceUpdated(`number://${principal}`),
    drain: () => handle.drain(2_000),
    async close() {
      await handle.close();
      await server.close();
      await storage.close();
    },
  },
);
