import { McpError, Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a missing resource has the revision's own code, names its URI and never looks empty",
  ids: ["RES-04"],
  server: () =>
    new Server({ name: "library", version: "1" })
      .resource("book://lost", {}, () => undefined)
      .resourceTemplate("book://{id}", {}, ({ id }) => {
        throw new McpError("resource_not_found", `no book ${id}`, { data: { uri: `book://${id}` } });
      })
      .resource("book://burning", {}, () => {
        throw new Error("the shelf is on fire");
      }),
  async run({ connect, era }) {
    const client = await connect();
    const code = era === "stateful" ? -32002 : -32602;
    for (const uri of ["book://lost", "book://7", "other://x"]) {
      await expect(client.readResource(uri)).rejects.toMatchObject({ code, data: { uri } });
    }
    await expect(client.readResource("book://burning")).rejects.toMatchObject({ code: -32603 });
  },
});
