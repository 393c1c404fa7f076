import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { expect } from "vitest";

/** A server whose tools go on when a test says so. */
export interface WorkingServer {
  readonly server: Server;
  /** Tools that were told to stop. */
  readonly stopped: string[];
  /** Lets the tool of a name go on, once it waits. */
  goOn(name: string): Promise<void>;
}

/** Steps of the tool `work`. */
export const STEPS = 4;

/** Lines of its description: more than a window is high. */
const LINES = 60;

/** Makes it. */
export function workingServer(): WorkingServer {
  const waiting = new Map<string, () => void>();
  const stopped: string[] = [];
  const wait = (name: string, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      waiting.set(name, resolve);
      signal.addEventListener("abort", () => {
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
    async goOn(name) {
      await expect.poll(() => waiting.has(name)).toBe(true);
      waiting.get(name)?.();
      waiting.delete(name);
    },
  };
}
