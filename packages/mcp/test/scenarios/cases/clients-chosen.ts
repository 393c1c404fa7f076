import { McpError, Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

const OWN_CLIENT = "the client of the server behind it is the gateway";

export default scenario({
  name: "middleware decides by the client which are served, and what is declared to each",
  ids: ["LIFE-04"],
  server: () =>
    new Server({ name: "s", version: "1" })
      .use(async (call, next) => {
        const { info } = call.ctx.client;
        if (info?.name === "old-bot") throw new McpError("invalid_request", "old-bot is no longer served");
        const result = await next();
        if (call.method !== "initialize" && call.method !== "server/discover") return result;
        const { capabilities, ...rest } = result as { capabilities: Record<string, unknown> };
        const { prompts, ...fewer } = capabilities;
        return { ...rest, capabilities: info?.name === "editor" ? { ...fewer, prompts } : fewer };
      })
      .tool("hi", {}, () => "hi")
      .prompt("p", {}, () => "text"),
  except: { "gateway-stateful": OWN_CLIENT, "gateway-stateless": OWN_CLIENT },
  async run({ connect }) {
    await expect(connect({ name: "old-bot" })).rejects.toMatchObject({
      kind: "invalid_request",
      message: expect.stringContaining("old-bot is no longer served"),
    });
    const editor = await connect({ name: "editor" });
    expect(editor.serverCapabilities.prompts).toBeDefined();
    const other = await connect({ name: "other" });
    expect(other.serverCapabilities.prompts).toBeUndefined();
    expect(await other.call("hi")).toBe("hi");
  },
});
