import { connect, type McpError } from "@parley/mcp";
import { StorageFailure } from "@parley/mcp/storage";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { gate, TestNodes, warmUp } from "./nodes.js";

beforeAll(warmUp);

const open: TestNodes[] = [];
afterEach(async () => {
  for (const nodes of open.splice(0)) await nodes.end();
});

/** A server with a storage that the test can take away, and a client on the same clock. */
async function start(revision: "2026-07-28" | "2025-11-25") {
  const [begun, going] = [gate(), gate()];
  const nodes = new TestNodes((server) => {
    server.tool("slow", { task: "required" }, async () => {
      begun.open();
      await going.opened;
      return "done";
    });
    server.tool("asks", { task: "required" }, async (_args, ctx) => {
      const { name } = await ctx.elicit("who?", z.object({ name: z.string() }));
      return `hello ${name}`;
    });
  });
  open.push(nodes);
  const node = nodes.node("A");
  let [refused, asked] = [0, 0];
  const takeAway = () => {
    node.storage.before = (operation) => {
      if (operation === "get") refused++;
      throw new StorageFailure("unavailable", "Redis is away.", "Start it.");
    };
  };
  const client = await connect(node.server, {
    platform: nodes.clock.platform,
    revisions: [revision],
    extensions: [tasks()],
    onElicit: () => {
      asked++;
      takeAway();
      return { action: "accept", content: { name: "Ada" } };
    },
  });
  return {
    nodes,
    client,
    begun,
    going,
    takeAway,
    refused: () => refused,
    asked: () => asked,
    giveBack: () => {
      node.storage.before = () => {};
    },
  };
}

describe.each(["2026-07-28", "2025-11-25"] as const)(
  "a storage that is away while a client waits for a task, %s",
  (revision) => {
    it.each(["call", "startTask"] as const)("does not end the wait of `%s`", async (way) => {
      const { nodes, client, begun, going, takeAway, giveBack, refused } = await start(revision);
      const outcome = way === "call" ? client.call("slow") : client.startTask("slow").then((task) => task.result());
      await nodes.during(begun.opened);
      takeAway();
      await nodes.until(() => refused() > 2);
      going.open();
      await nodes.pass(4000);
      giveBack();
      expect(await nodes.during(outcome)).toBe("done");
      await client.close();
    });

    it("does not lose an answer, and asks once", async () => {
      const { nodes, client, giveBack, refused, asked } = await start(revision);
      const outcome = client.call("asks");
      await nodes.until(() => refused() > 2);
      giveBack();
      expect(await nodes.during(outcome)).toBe("hello Ada");
      expect(asked()).toBe(1);
      await client.close();
    });

    it("ends the wait by an error that says so when it does not come back", async () => {
      const { nodes, client, begun, takeAway } = await start(revision);
      const task = await nodes.during(client.startTask("slow"));
      const failed = task.result().catch((error: McpError) => error);
      await nodes.during(begun.opened);
      takeAway();
      await nodes.pass(600_000, 5000);
      expect(await failed).toMatchObject({
        kind: "internal_error",
        message: expect.stringContaining("the task storage cannot be reached"),
        data: { reason: "storage_unavailable", retryAfterMs: 1000 },
      });
      await client.close();
    });
  },
);
