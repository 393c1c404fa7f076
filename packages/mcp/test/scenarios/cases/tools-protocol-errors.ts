import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a server may refuse arguments that do not fit as errors of the protocol",
  ids: ["TOOL-15"],
  server: () =>
    new Server({ name: "strict", version: "1" }, { invalidArguments: "protocol" }).tool(
      "age",
      { input: z.object({ years: z.number() }) },
      ({ years }) => `${years} years`,
    ),
  async run({ connect }) {
    const client = await connect();
    await expect(client.callTool("age", { years: "many" })).rejects.toMatchObject({
      kind: "invalid_params",
      data: { issues: [{ path: "/years" }] },
    });
  },
});
