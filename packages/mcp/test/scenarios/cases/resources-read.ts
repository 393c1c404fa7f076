import { content, Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a resource gives text, bytes or several parts, each with its type",
  ids: ["RES-02", "RES-03"],
  server: () =>
    new Server({ name: "library", version: "1" })
      .resource("book://text", { name: "book", mimeType: "text/plain", description: "a text" }, () => "once upon")
      .resource("book://cover", { mimeType: "image/png" }, async () => new Uint8Array([137, 80, 0, 255]))
      .resource("book://all", {}, (uri) => [
        { text: "chapter", uri: `${uri}/1`, mimeType: "text/markdown" },
        content.resource("book://other", "embedded"),
      ]),
  async run({ connect }) {
    const client = await connect();
    expect(await client.allResources()).toEqual([
      { uri: "book://text", name: "book", mimeType: "text/plain", description: "a text" },
      { uri: "book://cover", name: "book://cover", mimeType: "image/png" },
      { uri: "book://all", name: "book://all" },
    ]);
    const contents = async (uri: string) => (await client.readResource(uri)).contents;
    expect(await contents("book://text")).toEqual([{ uri: "book://text", mimeType: "text/plain", text: "once upon" }]);
    expect(await contents("book://cover")).toEqual([{ uri: "book://cover", mimeType: "image/png", blob: "iVAA/w==" }]);
    expect(await contents("book://all")).toEqual([
      { uri: "book://all/1", mimeType: "text/markdown", text: "chapter" },
      { uri: "book://other", text: "embedded" },
    ]);
  },
});
