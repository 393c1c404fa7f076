import { connect, McpError, Server } from "@parley/mcp";
import { memoryStorage } from "@parley/mcp/storage";
import { tasks } from "@parley/mcp/tasks";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const info = { name: "s", version: "1" };
const Count = z.object({ n: z.number() });
const late = { task: { support: "optional", begin: "handler" } } as const;

/** A client of the extension that counts what it is asked. */
async function open(server: object) {
  const asked: string[] = [];
  // Any server will do; only its own type knows its tools.
  const client = await connect(server as Server, {
    revisions: ["2026-07-28"],
    extensions: [tasks()],
    onElicit: ({ message }) => {
      asked.push(message);
      return { action: "accept", content: { n: asked.length } };
    },
  });
  cleanups.push(() => client.close());
  return { client, asked };
}

describe("a handler that begins its task", () => {
  it("asks a question again that it asked before the task began", async () => {
    const server = new Server(info, { extensions: [tasks({ pollIntervalMs: 10 })] }).tool(
      "t",
      late,
      async (_args, ctx) => {
        const before = await ctx.elicit("how many?", Count);
        await ctx.startTask();
        const after = await ctx.elicit("how many?", Count);
        return `${before.n} ${after.n}`;
      },
    );
    const { client, asked } = await open(server);
    expect(await client.call("t")).toBe("1 2");
    expect(asked).toEqual(["how many?", "how many?"]);
  });

  it("keeps the step that runs meanwhile, so that another process does not run it again", async () => {
    const storage = memoryStorage();
    const steps: string[] = [];
    let ends = () => {};
    const node = () => {
      const server = new Server(info, { storage, extensions: [tasks({ leaseMs: 60, pollIntervalMs: 10 })] }).tool(
        "t",
        late,
        async (_args, ctx) => {
          const paying = ctx.step("pay", async () => {
            steps.push("pay");
            await new Promise((resolve) => setTimeout(resolve, 40));
          });
          await ctx.startTask();
          await paying;
          if (steps.length === 1 && steps.push("waits") > 0) await new Promise<void>((resolve) => (ends = resolve));
          return steps.join(" ");
        },
      );
      cleanups.push(() => server.close());
      return server;
    };
    const first = node();
    const { client } = await open(first);
    const handle = await client.startTask("t");
    await expect.poll(() => steps).toEqual(["pay", "waits"]);
    await first.close();
    const { client: second } = await open(node());
    expect(await second.task(handle.toJSON()).result()).toBe("pay waits");
    ends();
  });
});

describe("a task", () => {
  it("TASK26-07: ends although the data of its error cannot be written as JSON", async () => {
    const server = new Server(info, { extensions: [tasks({ pollIntervalMs: 10 })] }).tool(
      "t",
      { task: "optional" },
      () => {
        throw new McpError("invalid_params", "no good", { data: { n: 1n } });
      },
    );
    const { client } = await open(server);
    await expect(client.call("t")).rejects.toMatchObject({ kind: "invalid_params", message: "no good" });
  });

  it("lets middleware ask before the tool runs", async () => {
    const server = new Server<{ n: number }>(info, { extensions: [tasks({ pollIntervalMs: 10 })] })
      .use(async (call, next) => {
        if (call.method === "tools/call") {
          // The context of a tool can ask, which the type of middleware does not say.
          const { elicit } = call.ctx as unknown as {
            elicit(message: string, schema: typeof Count): Promise<{ n: number }>;
          };
          call.ctx.data.n = (await elicit.call(call.ctx, "how many?", Count)).n;
        }
        return next();
      })
      .tool("t", { task: "optional" }, (_args, ctx) => `n ${ctx.data.n}`);
    const { client, asked } = await open(server);
    expect(await client.call("t")).toBe("n 1");
    expect(asked).toEqual(["how many?"]);
  });

  it("TASK26-10: begins anew when its call brings answers of another call", async () => {
    const server = new Server(info, { extensions: [tasks({ pollIntervalMs: 10 })] }).tool(
      "t",
      { task: "optional" },
      async (_args, ctx) => {
        const { n } = await ctx.elicit("how many?", Count);
        return `n ${n}`;
      },
    );
    const { client } = await open(server);
    const params = { name: "t", inputResponses: { "how many?": { action: "accept", content: { n: 9 } } } };
    expect(await client.request("tools/call", params)).toMatchObject({ content: [{ text: "n 1" }] });
  });

  it("waits for an answer as long as it is kept, not only for `limits.answerMs`", async () => {
    const server = new Server(info, { limits: { answerMs: 20 }, extensions: [tasks({ pollIntervalMs: 10 })] }).tool(
      "t",
      { task: "optional" },
      async (_args, ctx) => `n ${(await ctx.elicit("how many?", Count)).n}`,
    );
    const client = await connect(server, {
      revisions: ["2026-07-28"],
      extensions: [tasks()],
      onElicit: async () => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        return { action: "accept", content: { n: 3 } };
      },
    });
    cleanups.push(() => client.close());
    expect(await client.call("t")).toBe("n 3");
  });

  it("is cancelled when its call was given up before the client could learn of it", async () => {
    const given = new AbortController();
    const storage = memoryStorage();
    const { kv } = storage;
    const slow = {
      ...storage,
      kv: {
        get: (key: string) => kv.get(key),
        touch: (key: string, ttlMs: number) => kv.touch(key, ttlMs),
        delete: (...args: Parameters<typeof kv.delete>) => kv.delete(...args),
        set: async (...args: Parameters<typeof kv.set>) => {
          given.abort();
          await new Promise((resolve) => setTimeout(resolve, 30));
          return kv.set(...args);
        },
      },
    };
    let aborted = false;
    const server = new Server(info, { storage: slow, extensions: [tasks({ pollIntervalMs: 10 })] }).tool(
      "t",
      { task: "optional" },
      async (_args, ctx) => {
        await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
        aborted = true;
        return "";
      },
    );
    const { client } = await open(server);
    await expect(client.call("t", {}, { signal: given.signal })).rejects.toMatchObject({ kind: "cancelled" });
    await expect.poll(() => aborted).toBe(true);
    await server.close();
  });
});
