import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a handler asks two questions at once and goes on with the answers",
  ids: ["MRTR-01", "MRTR-06", "ELIC-03"],
  server: () =>
    new Server({ name: "asker", version: "1" }).tool("greet", {}, async (_args, ctx) => {
      const [name, age] = await Promise.all([
        ctx.elicit("Your name?", z.object({ name: z.string() })),
        ctx.elicit("Your age?", z.object({ age: z.number() })),
      ]);
      return `${name.name} is ${age.age}`;
    }),
  async run({ connect }) {
    const asked: string[] = [];
    const client = await connect({
      onElicit(question) {
        asked.push(question.message);
        return { action: "accept", content: question.message === "Your name?" ? { name: "Ada" } : { age: 36 } };
      },
    });
    expect(await client.call("greet")).toBe("Ada is 36");
    expect(asked.sort()).toEqual(["Your age?", "Your name?"]);
  },
});
