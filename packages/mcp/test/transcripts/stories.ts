import { type Client, Server } from "@parley/mcp";
import { expect } from "vitest";
import type { ClientOptions } from "../../src/client/contract/options.js";
import type { RecordedPipe } from "./recorded-pipe.js";

/** One story: what the client is told and does. */
export interface Story {
  options?: ClientOptions;
  run(client: Client, pipe: RecordedPipe): Promise<void>;
}

/** The server of all stories. */
export function storyServer(): Server<never> {
  const server = new Server({ name: "storyteller", version: "1.0.0" }, { instructions: "Call `add` to add." })
    .tool(
      "add",
      {
        description: "Adds two numbers",
        input: {
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } },
          required: ["a", "b"],
        },
        output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
      },
      (args: unknown) => {
        const { a, b } = args as { a: number; b: number };
        return { sum: a + b };
      },
    )
    .tool("where", {}, async (_args, ctx) => {
      ctx.progress(1, { total: 2, message: "asking" });
      const [root] = await ctx.roots();
      if (!["2024-11-05", "2025-03-26"].includes(ctx.protocolVersion)) {
        const form = {
          type: "object",
          properties: { sure: { type: "boolean", default: true } },
          required: ["sure"],
        } as const;
        await ctx.elicit("Is it there?", form);
      }
      return `in ${root?.uri}`;
    })
    .tool(
      "wait",
      {},
      (_args, ctx) => new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve("late"))),
    )
    .resource("file:///a", { name: "a" }, () => "a");
  return server as unknown as Server<never>;
}

export const stories: Record<string, Story> = {
  connect: {
    async run(client) {
      expect(client.instructions).toContain("add");
      await client.ping();
    },
  },
  call: {
    async run(client) {
      const tools = await client.allTools();
      expect(tools.map(({ name }) => name)).toEqual(["add", "where", "wait"]);
      expect((await client.callTool("add", { a: 1, b: 2 })).content).toEqual([{ type: "text", text: '{"sum":3}' }]);
      expect(await client.callTool("add", { a: "one" })).toMatchObject({ isError: true });
      await expect(client.callTool("subtract")).rejects.toMatchObject({ kind: "invalid_params" });
    },
  },
  question: {
    options: { roots: [{ uri: "file:///home/ada", name: "home" }], onElicit: () => ({ action: "accept" }) },
    async run(client) {
      expect(await client.call("where")).toBe("in file:///home/ada");
    },
  },
  cancel: {
    async run(client) {
      const controller = new AbortController();
      const call = client.callTool("wait", {}, { signal: controller.signal });
      await Promise.resolve();
      controller.abort();
      await expect(call).rejects.toMatchObject({ kind: "cancelled" });
      await client.ping();
    },
  },
  recover: {
    options: { logLevel: "warning" },
    async run(client, pipe) {
      await using subscription = await client.subscribe("file:///a");
      const back = new Promise((resolve) => client.on("session.recovered", resolve));
      pipe.cut();
      await back;
      const { value } = await subscription[Symbol.asyncIterator]().next();
      expect(value).toMatchObject({ uri: "file:///a", missed: true });
      await client.callTool("add", { a: 2, b: 2 });
    },
  },
};
