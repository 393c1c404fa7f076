import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a result beyond its limit can be read as a whole through its link",
  ids: ["TOOL-14", "TOOL-18"],
  server: () =>
    new Server({ name: "large", version: "1" }).tool("dump", { maxResultBytes: 4096, overflow: "link" }, () =>
      "line\n".repeat(100_000),
    ),
  async run({ connect }) {
    const client = await connect();
    const { content } = await client.callTool("dump");
    const link = content.find((block) => block.type === "resource_link");
    const [whole] = (await client.readResource(link?.uri ?? "")).contents;
    expect(whole).toMatchObject({ mimeType: "text/plain", text: "line\n".repeat(100_000) });
    await expect(client.readResource(`${link?.uri}x`)).rejects.toMatchObject({
      message: expect.stringContaining("not found"),
    });
  },
});
