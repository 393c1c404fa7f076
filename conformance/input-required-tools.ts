import type { Server } from "@parley/mcp";
import { z } from "zod";

const name = z.object({ name: z.string() });
const ok = z.object({ ok: z.boolean() });
const question = (text: string, maxTokens: number) => ({
  messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
  maxTokens,
});

/** The tools and the prompt that ask by interim results in the stateless era. */
export function addInputRequiredTools(server: Server<unknown>): void {
  const prefix = "test_input_required_result";
  server
    .tool("test_missing_capability", { description: "Needs sampling" }, async (_args, ctx) => {
      await ctx.sample(question("hello", 10));
      return "sampled";
    })
    .tool("test_streaming_elicitation", { description: "Answers without asking" }, () => "done")
    .tool(`${prefix}_elicitation`, { description: "Asks for a name" }, async (_args, ctx) => {
      const answer = await ctx.elicit("What is your name?", name, { key: "user_name" });
      return `Hello, ${answer.name}!`;
    })
    .tool(`${prefix}_sampling`, { description: "Asks the model" }, async (_args, ctx) => {
      const { content } = await ctx.sample(question("What is the capital of France?", 100), {
        key: "capital_question",
      });
      return JSON.stringify(content);
    })
    .tool(`${prefix}_list_roots`, { description: "Asks for roots" }, async (_args, ctx) =>
      JSON.stringify(await ctx.roots({ key: "client_roots" })),
    )
    .tool(`${prefix}_request_state`, { description: "Carries state" }, async (_args, ctx) => {
      await ctx.elicit("Please confirm", ok, { key: "confirm" });
      return "state-ok";
    })
    .tool(`${prefix}_tampered_state`, { description: "Protects its state" }, async (_args, ctx) => {
      await ctx.elicit("Please confirm", ok, { key: "confirm" });
      return "state-ok";
    })
    .tool(`${prefix}_multiple_inputs`, { description: "Asks three things at once" }, async (_args, ctx) => {
      const answers = await Promise.all([
        ctx.elicit("What is your name?", name, { key: "user_name" }),
        ctx.sample(question("Generate a greeting", 50), { key: "greeting" }),
        ctx.roots({ key: "client_roots" }),
      ]);
      return JSON.stringify(answers);
    })
    .tool(`${prefix}_multi_round`, { description: "Asks twice" }, async (_args, ctx) => {
      const first = await ctx.elicit("Step 1: What is your name?", name, { key: "step1" });
      const color = z.object({ color: z.string() });
      const second = await ctx.elicit("Step 2: What is your favorite color?", color, { key: "step2" });
      return `${first.name} likes ${second.color}`;
    })
    .tool(`${prefix}_capabilities`, { description: "Asks what the client can answer" }, async (_args, ctx) => {
      const asked: Promise<unknown>[] = [];
      if (ctx.client.can("elicitation.form")) asked.push(ctx.elicit("What is your name?", name, { key: "user_name" }));
      if (ctx.client.can("sampling")) asked.push(ctx.sample(question("Generate a greeting", 50), { key: "greeting" }));
      return JSON.stringify(await Promise.all(asked));
    });
  server.prompt(`${prefix}_prompt`, { description: "Asks before it answers" }, async (_args, ctx) => {
    const context = z.object({ context: z.string() });
    const answer = await ctx.elicit("What context should the prompt use?", context, { key: "user_context" });
    return `Use this context: ${answer.context}`;
  });
}
