import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";

/** A server whose tools go on when a test says so. */
export interface WorkingServer {
  readonly server: Server;
  /** Tools that were told to stop. */
  readonly stopped: string[];
  /** Waits until so many calls of a tool wait at the server. */
  waits(name: string, calls: number): Promise<void>;
  /** Lets the oldest call of a tool go on, once there is one that waits. */
  goOn(name: string): Promise<void>;
}

/** Steps of the tool `work`. */
export const STEPS = 4;

/** Lines of its description: more than a window is high. */
const LINES = 60;

/** Makes it. */
export function workingServer(): WorkingServer {
  const waiting: { readonly name: string; readonly goOn: () => void }[] = [];
  const stopped: string[] = [];
  const wait = (name: string, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const call = { name, goOn: resolve };
      waiting.push(call);
      signal.addEventListener("abort", () => {
        // Its signal may be aborted when it has long gone on.
        if (!waiting.includes(call)) return;
        waiting.splice(waiting.indexOf(call), 1);
        stopped.push(name);
        reject(signal.reason);
      });
    });
  const server = new Server({ name: "working", version: "1" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
    .tool("work", { description: "Works in steps.\n".repeat(LINES) }, async (_args, ctx) => {
      for (let step = 1; step <= STEPS; step++) {
        ctx.progress(step, { total: STEPS, message: `step ${step}` });
        await wait("work", ctx.signal);
      }
      return "all steps done";
    })
    .tool("wait", {}, async (_args, ctx) => {
      await wait("wait", ctx.signal);
      return "waited";
    })
    .tool("slow", { task: "optional" }, async (_args, ctx) => {
      await wait("slow", ctx.signal);
      return "slow but done";
    });
  return {
    server,
    stopped,
    async waits(name, calls) {
      await expect.poll(() => waiting.filter((call) => call.name === name).length).toBe(calls);
    },
    async goOn(name) {
      await expect.poll(() => waiting.some((call) => call.name === name)).toBe(true);
      const [oldest] = waiting.splice(
        waiting.findIndex((call) => call.name === name),
        1,
      );
      oldest?.goOn();
    },
  };
}
