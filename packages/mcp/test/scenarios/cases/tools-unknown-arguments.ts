import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { z } from "zod";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a misspelled argument is named with what was probably meant, and the handler does not run",
  ids: ["TOOL-16"],
  server: () => {
    let ran = 0;
    return new Server({ name: "strict", version: "1" })
      .tool("search", { input: z.object({ filters: z.array(z.string()).optional() }) }, () => `ran ${++ran}`)
      .tool("ran", {}, () => String(ran));
  },
  async run({ connect }) {
    const client = await connect();
    const { isError, content } = await client.callTool("search", { filter: ["a"] });
    expect(isError).toBe(true);
    expect(content).toMatchObject([{ text: expect.stringContaining('did you mean "filters"?') }]);
    expect(await client.call("ran")).toBe("0");
  },
});
