import { tool, urlRequired } from "@parley/mcp";
import { z } from "zod";

const order = z.object({
  name: z.string().min(1).default("Ada"),
  mail: z.email().optional(),
  amount: z.int().min(1).max(9).default(1),
  express: z.boolean().default(false),
  size: z.enum(["small", "large"]),
  colour: z.union([z.literal("r").meta({ title: "Red" }), z.literal("g").meta({ title: "Green" })]),
  extras: z.array(z.enum(["card", "bow"])).max(2),
});

/** Elicitation, form mode: a field of every kind. */
export const orderTool = tool("order", { description: "Orders a present", output: order }, (_args, ctx) =>
  ctx.elicit("What may it be?", order),
);

/** A step runs once, even if the handler runs again for the answer. */
let charges = 0;
export const buy = tool(
  "buy",
  { description: "Charges once, asks twice", requires: ["elicitation.form"] },
  async (_args, ctx) => {
    const receipt = await ctx.step("charge", () => `receipt ${++charges}`);
    const { name } = await ctx.elicit("For whom?", z.object({ name: z.string() }));
    const { sure } = await ctx.elicit(`Really for ${name}?`, z.object({ sure: z.boolean() }));
    return sure ? `${receipt} for ${name}` : "nothing bought";
  },
);

/** The user's action, as a value. */
export const survey = tool("survey", { description: "Asks politely" }, async (_args, ctx) => {
  const reply = await ctx.tryElicit("How was it?", z.object({ stars: z.int().min(1).max(5) }));
  return reply.action === "accept" ? `${reply.content.stars} stars` : `no answer (${reply.action})`;
});

/** Elicitation, URL mode: a page to visit. */
export const pay = tool("pay", { description: "Opens a page to pay" }, async (_args, ctx) => {
  await ctx.elicitUrl("Pay here", "https://example.com/pay", { elicitationId: "payment-1" });
  ctx.elicitationComplete("payment-1");
  return "paid";
});

/** A page that must be visited before anything else. */
let visits = 0;
export const secret = tool("secret", { description: "Needs a sign-in at another service" }, () => {
  if (++visits % 2 === 1) throw urlRequired([{ message: "Sign in", url: "https://example.com/sign-in" }]);
  return "the secret";
});

/** Sampling: asks the client's model. */
export const ask = tool(
  "ask",
  { description: "Asks the client's model", input: z.object({ question: z.string() }) },
  async ({ question }, ctx) => {
    const { content } = await ctx.sample({
      messages: [{ role: "user", content: { type: "text", text: question } }],
      maxTokens: 100,
      systemPrompt: "Answer in one word.",
    });
    const [first] = Array.isArray(content) ? content : [content];
    return first?.type === "text" ? first.text : "no words";
  },
);

/** Roots: the client's folders, if it has any. */
export const folders = tool("folders", { description: "Lists the client's folders" }, async (_args, ctx) =>
  ctx.client.can("roots") ? (await ctx.roots()).map(({ uri }) => uri).join("\n") : "the client tells none",
);
