import { Server, type ServerOptions, type ToolDefinition } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { platform } from "../../src/node/platform.js";
import type { Platform } from "../../src/platform/platform.js";
import type { HandlerContext } from "../../src/server/contract/context.js";
import { drive, round } from "./stateless-driver.js";

const answer = z.object({ v: z.string() });
const echo = (message: string) => ({ v: message.toUpperCase() });

/** Twenty times as fast as it says, so that a wait of a second takes 50 ms. */
const timer: Platform["timer"] = (ms, run, hold) => platform.timer(ms / 20, run, hold);

function serverWith(
  handler: (ctx: HandlerContext) => Promise<unknown>,
  definition: ToolDefinition = {},
  options: ServerOptions = {},
): Server<never> {
  return new Server({ name: "q", version: "1" }, { ...options, platform: { timer } }).tool(
    "t",
    definition,
    (_args, ctx) => handler(ctx) as Promise<string>,
  ) as unknown as Server<never>;
}

const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe("a slow step beside a question", () => {
  it("runs once, however long the interrupted handler is waited for (MRTR-03)", async () => {
    let charged = 0;
    const charge = async () => {
      await after(150);
      return ++charged;
    };
    const server = serverWith(async (ctx) => {
      const [count, reply] = await Promise.all([ctx.step("charge", charge), ctx.elicit("a", answer)]);
      return `${count} ${reply.v}`;
    });
    const { text, questions } = await drive(server, "t", echo);
    expect([text, questions, charged]).toEqual(["1 A", [["a"]], 1]);
  });

  it("fails the call by its name when it takes longer than the tool may, and is not forgotten", async () => {
    let started = 0;
    const server = serverWith(
      async (ctx) => {
        const stuck = ctx.step("charge", () => {
          started++;
          return new Promise(() => {});
        });
        await Promise.all([stuck, ctx.elicit("a", answer)]);
        return "never";
      },
      { timeoutMs: 2000 },
    );
    const { result, error } = await round(server, "t");
    expect(result?.resultType).not.toBe("input_required");
    expect(error?.message ?? result?.content?.[0]?.text).toMatch(/the step "charge" did not finish within \d+ ms/);
    expect(started).toBe(1);
  });

  it("is waited for as long as an answer would be when the tool has no time of its own", async () => {
    const server = serverWith(
      async (ctx) => {
        await Promise.all([ctx.step("report", () => new Promise(() => {})), ctx.elicit("a", answer)]);
        return "never";
      },
      {},
      { limits: { answerMs: 3000 } },
    );
    const { error } = await round(server, "t");
    expect(error?.message).toContain('the step "report" did not finish within 3000 ms');
    expect(error?.data).toEqual({ limit: "answerMs", ms: 3000, step: "report" });
  });
});
