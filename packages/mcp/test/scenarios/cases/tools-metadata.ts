import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "titles, icons, hints and metadata of tools reach the client, in the order of registration",
  ids: ["TOOL-03", "TOOL-04", "TOOL-08"],
  server: () =>
    new Server({ name: "described", version: "1" })
      .tool(
        "zeta",
        {
          title: "Zeta",
          description: "The last letter first",
          annotations: { readOnlyHint: true, idempotentHint: true },
          icons: [{ src: "https://example.com/z.png", mimeType: "image/png", sizes: ["32x32"] }],
          _meta: { "com.example/group": "letters" },
        },
        () => "z",
      )
      .tool("alpha", {}, () => "a"),
  async run({ connect }) {
    const client = await connect();
    const [zeta, alpha] = await client.allTools();
    expect(zeta).toEqual({
      name: "zeta",
      title: "Zeta",
      description: "The last letter first",
      inputSchema: { type: "object", additionalProperties: false },
      annotations: { readOnlyHint: true, idempotentHint: true },
      icons: [{ src: "https://example.com/z.png", mimeType: "image/png", sizes: ["32x32"] }],
      _meta: { "com.example/group": "letters" },
    });
    expect(alpha?.name).toBe("alpha");
  },
});
