import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "arguments that do not fit are told to the model, with the place and the reason",
  ids: ["TOOL-15", "TOOL-16"],
  server: () =>
    new Server({ name: "strict", version: "1" }).tool(
      "age",
      { input: { type: "object", properties: { years: { type: "integer", minimum: 0 } }, required: ["years"] } },
      ({ years }) => `${years} years`,
    ),
  async run({ connect }) {
    const client = await connect();
    for (const years of [-1, 1.5, "many", null, undefined]) {
      const { isError, content } = await client.callTool("age", { years });
      expect(isError).toBe(true);
      expect(content).toMatchObject([{ text: expect.stringContaining("years") }]);
    }
    await expect(client.callTool("nobody" as never, {})).rejects.toMatchObject({ code: -32602 });
    expect(await client.call("age", { years: 3 })).toBe("3 years");
  },
});
