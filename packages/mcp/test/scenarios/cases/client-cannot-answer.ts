import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a client that can answer nothing says so beforehand, and a tool that needs an answer fails with the reason",
  ids: ["ELIC-01", "BASE-22"],
  server: () =>
    new Server({ name: "asker", version: "1" })
      .tool("can", {}, (_args, ctx) =>
        ["elicitation.form", "elicitation.url", "sampling", "roots"].filter((one) => ctx.client.can(one)).join(" "),
      )
      .tool("ask", {}, async (_args, ctx) => JSON.stringify(await ctx.elicit("?", z.object({ a: z.string() })))),
  except: {
    "gateway-stateful/stateless":
      "a server with sessions tells the model in a result, because its revisions have no code for it",
  },
  async run({ connect, era }) {
    const client = await connect();
    expect(await client.call("can")).toBe("");
    const asked = client.call("ask");
    await expect(asked).rejects.toMatchObject({
      kind: era === "stateless" ? "capability_missing" : "tool_error",
      message: expect.stringContaining("elicitation.form"),
    });
    const able = await connect({ onElicit: () => ({ action: "decline" }), elicitUrls: false, roots: [] });
    expect(await able.call("can")).toBe("elicitation.form roots");
  },
});
