// A server on Redis that does next to nothing itself, so that what it costs is what the library costs.
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { tasks } from "@parley/mcp/tasks";
import { redisStorage } from "@parley/redis";
import { answerCommands, settingsOf } from "./answer-commands.js";

export interface CostServerSettings {
  readonly redisPort: number;
  /** Whether all callers are one authenticated principal. */
  readonly authenticates: boolean;
}

const { redisPort, authenticates } = settingsOf<CostServerSettings>();
const NONCE = { type: "object", properties: { nonce: { type: "number" } }, required: ["nonce"] } as const;
const STEPS = { type: "object", properties: { steps: { type: "integer" } }, required: ["steps"] } as const;

const server = new Server(
  { name: "cost", version: "1.0.0" },
  {
    storage: redisStorage({ url: `redis://127.0.0.1:${redisPort}` }),
    secret: "cost cost cost cost cost cost cost cost",
    extensions: [tasks({ limits: { runningPerPrincipal: 10_000, keptPerPrincipal: 10_000 }, pollIntervalMs: 1_000 })],
  },
)
  .tool("echo", { input: NONCE }, ({ nonce }) => `nonce ${nonce}`)
  .tool("count", { input: STEPS }, ({ steps }, ctx) => {
    for (let step = 1; step <= steps; step++) ctx.progress(step);
    return "counted";
  })
  .tool("work", { input: STEPS, task: "optional" }, async ({ steps }, ctx) => {
    for (let step = 0; step < steps; step++) await ctx.step(`${step}`, () => step);
    return "worked";
  })
  .resource("cost://changing", { name: "changing" }, () => "now");

const handle = await serveHttp(server, {
  port: 0,
  host: "127.0.0.1",
  ...(authenticates ? { authenticate: () => ({ key: "owner" }) } : {}),
  limits: { maxSessions: 20_000, maxSessionsPerPrincipal: 20_000, maxStreamsPerPrincipal: 20_000 },
});

answerCommands(
  { port: handle.port, url: handle.url },
  {
    change: () => server.resourceUpdated("cost://changing"),
  },
);
