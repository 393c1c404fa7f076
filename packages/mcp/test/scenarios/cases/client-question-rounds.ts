import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a handler that asks again and again is answered each time, in order",
  ids: ["MRTR-05", "MRTR-07", "MRTR-16"],
  server: () =>
    new Server({ name: "curious", version: "1" }).tool("interview", {}, async (_args, ctx) => {
      const answers: string[] = [];
      for (const question of ["who", "where", "why"]) {
        const { answer } = await ctx.elicit(`${question}?`, z.object({ answer: z.string() }));
        answers.push(answer);
      }
      return answers.join(" ");
    }),
  async run({ connect }) {
    const client = await connect({
      onElicit: ({ message }) => ({ action: "accept", content: { answer: message.toUpperCase() } }),
    });
    expect(await client.call("interview")).toBe("WHO? WHERE? WHY?");
    const impatient = await connect({ maxRounds: 2, onElicit: () => ({ action: "accept", content: { answer: "x" } }) });
    // Only rounds are counted; questions by request end by the call's own deadlines.
    await impatient
      .call("interview")
      .catch((error: unknown) => expect(error).toMatchObject({ kind: "limit_exceeded" }));
  },
});
