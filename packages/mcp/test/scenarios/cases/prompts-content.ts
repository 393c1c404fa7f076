import { content, message, Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "the messages of a prompt hold every kind of content, of both roles",
  ids: ["PROMPT-03"],
  server: () =>
    new Server({ name: "host", version: "1" }).prompt("all", {}, async () => [
      "plain",
      message.user(content.image(new Uint8Array([1]), "image/png"), content.audio("AQ==", "audio/wav")),
      message.assistant(
        content.resource("note://1", "body", { mimeType: "text/plain" }),
        content.link("note://2", { name: "two" }),
      ),
      message.assistant(content.text("done")),
    ]),
  async run({ connect }) {
    const client = await connect();
    const { messages } = await client.getPrompt("all");
    expect(messages).toEqual([
      { role: "user", content: { type: "text", text: "plain" } },
      { role: "user", content: { type: "image", data: "AQ==", mimeType: "image/png" } },
      { role: "user", content: { type: "audio", data: "AQ==", mimeType: "audio/wav" } },
      {
        role: "assistant",
        content: { type: "resource", resource: { uri: "note://1", mimeType: "text/plain", text: "body" } },
      },
      { role: "assistant", content: { type: "resource_link", uri: "note://2", name: "two" } },
      { role: "assistant", content: { type: "text", text: "done" } },
    ]);
  },
});
