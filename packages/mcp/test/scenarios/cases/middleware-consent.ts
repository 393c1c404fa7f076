import { consent, Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a hook decides about each call before anything of it runs",
  ids: ["TOOL-18"],
  server: () => {
    let deleted = 0;
    return new Server({ name: "careful", version: "1" })
      .tool("delete", {}, () => `deleted ${++deleted}`)
      .tool("deleted", {}, () => String(deleted))
      .resource("file:///secret", {}, () => "secret")
      .use(
        consent({
          beforeToolCall: ({ name }) => (name === "delete" ? { deny: "Nothing is deleted here." } : "allow"),
          beforeResourceRead: () => ({ deny: "not for you" }),
        }),
      );
  },
  async run({ connect }) {
    const client = await connect();
    expect(await client.callTool("delete")).toMatchObject({
      isError: true,
      content: [{ text: "Nothing is deleted here." }],
    });
    expect(await client.call("deleted")).toBe("0");
    await expect(client.readResource("file:///secret")).rejects.toMatchObject({ message: "not for you" });
  },
});
