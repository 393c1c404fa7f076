import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "reading a resource may ask the user first",
  ids: ["MRTR-01"],
  server: () =>
    new Server({ name: "vault", version: "1" }).resource("vault://gold", {}, async (_uri, ctx) => {
      const form = { type: "object", properties: { pin: { type: "string" } }, required: ["pin"] } as const;
      const { pin } = await ctx.elicit("Your PIN?", form);
      return pin === "1234" ? "gold" : undefined;
    }),
  async run({ connect }) {
    const right = await connect({ onElicit: () => ({ action: "accept", content: { pin: "1234" } }) });
    expect((await right.readResource("vault://gold")).contents).toMatchObject([{ text: "gold" }]);
    const wrong = await connect({ onElicit: () => ({ action: "accept", content: { pin: "0" } }) });
    await expect(wrong.readResource("vault://gold")).rejects.toMatchObject({ data: { uri: "vault://gold" } });
  },
});
