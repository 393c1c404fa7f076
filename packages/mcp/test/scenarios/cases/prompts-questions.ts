import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a prompt may ask the user before it gives its messages",
  ids: ["MRTR-01"],
  server: () =>
    new Server({ name: "host", version: "1" }).prompt(
      "plan",
      { arguments: { city: { required: true } } },
      async ({ city }, ctx) => {
        const form = { type: "object", properties: { days: { type: "integer" } }, required: ["days"] } as const;
        const { days } = await ctx.elicit(`How many days in ${city}?`, form);
        return `Plan ${days} days in ${city}.`;
      },
    ),
  async run({ connect }) {
    const client = await connect({ onElicit: () => ({ action: "accept", content: { days: 3 } }) });
    const { messages } = await client.getPrompt("plan", { city: "Oslo" });
    expect(messages[0]?.content).toEqual({ type: "text", text: "Plan 3 days in Oslo." });
    const silent = await connect({ onElicit: () => ({ action: "decline" }) });
    await expect(silent.getPrompt("plan", { city: "Oslo" })).rejects.toThrow(/declined/);
  },
});
