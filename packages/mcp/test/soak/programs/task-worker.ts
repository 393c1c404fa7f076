// One process of a server with durable tasks. Each step leaves a line in a file, so that one done twice is seen.
import { appendFileSync } from "node:fs";
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { tasks } from "@parley/mcp/tasks";
import { remoteStorage } from "../remote-storage.js";
import { answerCommands, settingsOf } from "./answer-commands.js";

/** What a worker is told by its lane. */
export interface TaskWorkerSettings {
  readonly port: number;
  /** Where the storage is served. */
  readonly storage: string;
  /** Where the lines of steps go. */
  readonly lines: string;
  readonly leaseMs: number;
}

const { port, storage, lines, leaseMs } = settingsOf<TaskWorkerSettings>();

const INPUT = {
  type: "object",
  properties: { name: { type: "string" }, steps: { type: "integer" }, restMs: { type: "number" } },
  required: ["name", "steps", "restMs"],
} as const;
const ANSWER = { type: "object", properties: { word: { type: "string" } }, required: ["word"] } as const;

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const leave = (line: string) => appendFileSync(lines, `${line}\n`);

/** The work of one step: its value depends on all steps before it. */
function work(name: string, step: number, before: number): number {
  leave(`${name} ${step}`);
  return (before * 31 + step + name.length) % 1_000_003;
}

const server = new Server(
  { name: "soak", version: "1.0.0" },
  {
    storage: await remoteStorage(storage),
    secret: "soak soak soak soak soak soak soak soak",
    extensions: [tasks({ leaseMs, pollIntervalMs: 50, limits: { runningPerPrincipal: 1000 } })],
  },
)
  .tool("steps", { input: INPUT, task: "optional" }, async ({ name, steps, restMs }, ctx) => {
    let value = 0;
    for (let step = 0; step < steps; step++) {
      const before = value;
      value = await ctx.step(`${step}`, () => work(name, step, before));
      await rest(restMs);
    }
    return `${name} ${value}`;
  })
  .tool("asks", { input: INPUT, task: "optional" }, async ({ name, steps, restMs }, ctx) => {
    let value = await ctx.step("first", () => work(name, 0, 0));
    for (let step = 1; step < steps; step++) {
      const before = value;
      const { word } = await ctx.elicit(`word ${step} of ${name}`, ANSWER);
      value = await ctx.step(`${step}`, () => work(name, step, before + word.length));
      await rest(restMs);
    }
    return `${name} ${value}`;
  })
  .tool("plain", { input: INPUT, task: "optional" }, async ({ name, steps, restMs }) => {
    leave(`${name} run`);
    await rest(restMs * steps);
    return `${name} done`;
  })
  .tool("again", { input: INPUT, task: { support: "optional", retry: 100 } }, async ({ name, steps, restMs }) => {
    leave(`${name} run`);
    await rest(restMs * steps);
    return `${name} done`;
  });

const handle = await serveHttp(server, { port, host: "127.0.0.1" });

answerCommands({ port: handle.port }, { close: () => server.close() });
