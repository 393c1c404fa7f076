import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "fifty calls in flight each get their own answer, whatever the order of answers",
  ids: ["BASE-04", "BASE-05"],
  server: () =>
    new Server({ name: "echo", version: "1" }).tool("echo", { input: z.object({ n: z.number() }) }, async ({ n }) => {
      await new Promise((resolve) => setTimeout(resolve, (n * 7919) % 13));
      return String(n);
    }),
  async run({ connect }) {
    const client = await connect();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => client.call("echo", { n })));
    expect(answers).toEqual(Array.from({ length: 50 }, (_, n) => String(n)));
  },
});
