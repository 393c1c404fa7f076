import { Server } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import { describe, expect, it } from "vitest";
import type { Revision } from "../../../src/protocol/revisions.js";
import { meta, talk } from "../../server/talk.js";

/** Microtasks after the begin of the handler in which the client cancels; the answer is out before the last of them. */
const MOMENTS = 40;
const TASKS = "io.modelcontextprotocol/tasks";

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Cancels a call so many microtasks after its handler began. Tells whether its client got the task, and whether it runs on. */
async function cancelled(revision: Revision, begin: "call" | "handler", moment: number) {
  let began = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    began = resolve;
  });
  let signal: AbortSignal | undefined;
  const server = new Server({ name: "s", version: "1" }, { extensions: [tasks()] }).tool(
    "t",
    { task: { support: "optional", begin } },
    async (_args, ctx) => {
      signal = ctx.signal;
      began();
      await ctx.startTask();
      await new Promise(() => {});
    },
  );
  const client = await talk(server, revision);
  const extensions = { "io.modelcontextprotocol/clientCapabilities": { extensions: { [TASKS]: {} } } };
  const stateless = revision === "2026-07-28";
  const params = stateless ? { name: "t", _meta: meta(revision, extensions) } : { name: "t", task: {} };
  void client.ask("tools/call", params, 7);
  await hasBegun;
  for (let passed = 0; passed < moment; passed++) await null;
  client.notify("notifications/cancelled", {
    requestId: 7,
    ...(stateless ? { _meta: meta(revision) } : {}),
  });
  await turns(5);
  const isAnswered = client.heard.some(({ id }) => id === 7);
  const runsOn = signal?.aborted === false;
  client.close();
  await server.close();
  return { isAnswered, runsOn };
}

describe.each(["2025-11-25", "2026-07-28"] as const)(
  "a call that is cancelled while it becomes a task, in %s",
  (revision) => {
    it.each(["call", "handler"] as const)(
      "leaves no task that its client does not know of (begin: %s)",
      async (begin) => {
        const outcomes = [];
        for (let moment = 0; moment < MOMENTS; moment++) outcomes.push(await cancelled(revision, begin, moment));
        const unknown = outcomes.map(({ isAnswered, runsOn }) => !isAnswered && runsOn);
        expect(unknown.indexOf(true)).toBe(-1);
        // The moments reach from before the answer to after it.
        expect(outcomes[0]).toEqual({ isAnswered: false, runsOn: false });
        expect(outcomes.at(-1)).toEqual({ isAnswered: true, runsOn: true });
      },
    );
  },
);
