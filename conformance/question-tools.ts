import type { Server } from "@parley/mcp";
import { z } from "zod";

/** The tools that ask by requests of their own in the stateful era. */
export function addQuestionTools(server: Server<unknown>): void {
  server
    .tool(
      "test_sampling",
      { description: "Asks the model", input: z.object({ prompt: z.string() }) },
      async ({ prompt }, ctx) => {
        const { content } = await ctx.sample({
          messages: [{ role: "user", content: { type: "text", text: prompt } }],
          maxTokens: 100,
        });
        return `LLM response: ${JSON.stringify(content)}`;
      },
    )
    .tool(
      "test_elicitation",
      { description: "Asks the user", input: z.object({ message: z.string() }) },
      async ({ message }, ctx) => {
        const reply = await ctx.tryElicit(message, z.object({ username: z.string(), email: z.string() }));
        return `User response: ${JSON.stringify(reply)}`;
      },
    )
    .tool("test_elicitation_sep1034_defaults", { description: "Asks with defaults" }, async (_args, ctx) => {
      const reply = await ctx.tryElicit("Please review", {
        type: "object",
        properties: {
          name: { type: "string", default: "John Doe" },
          age: { type: "integer", default: 30 },
          score: { type: "number", default: 95.5 },
          status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", default: true },
        },
      });
      return JSON.stringify(reply);
    })
    .tool("test_elicitation_sep1330_enums", { description: "Asks with every kind of choice" }, async (_args, ctx) => {
      const titled = [1, 2, 3].map((at) => ({ const: `value${at}`, title: `Value ${at}` }));
      const reply = await ctx.tryElicit("Please choose", {
        type: "object",
        properties: {
          untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
          titledSingle: { type: "string", oneOf: titled },
          legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
          untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
          titledMulti: { type: "array", items: { anyOf: titled } },
        },
      });
      return JSON.stringify(reply);
    });
}
