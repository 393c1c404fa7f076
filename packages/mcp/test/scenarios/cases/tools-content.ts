import { content, Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "content of every kind that builders make arrives as it was made",
  ids: ["TOOL-10", "TOOL-14"],
  server: () =>
    new Server({ name: "media", version: "1" }).tool("show", {}, () => [
      content.text("words", { annotations: { audience: ["user"], priority: 0.5 } }),
      content.image(new Uint8Array([1, 2, 3]), "image/png"),
      content.audio("UklGRg==", "audio/wav"),
      content.resource("file:///a.txt", "inside", { mimeType: "text/plain" }),
      content.link("file:///b.txt", { name: "b", description: "elsewhere" }),
    ]),
  async run({ connect }) {
    const client = await connect();
    expect((await client.callTool("show")).content).toEqual([
      { type: "text", text: "words", annotations: { audience: ["user"], priority: 0.5 } },
      { type: "image", data: "AQID", mimeType: "image/png" },
      { type: "audio", data: "UklGRg==", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "inside" } },
      { type: "resource_link", uri: "file:///b.txt", name: "b", description: "elsewhere" },
    ]);
  },
});
