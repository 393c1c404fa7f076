import { fileURLToPath, pathToFileURL } from "node:url";
import { connect, Server } from "@parley/mcp";
import { apps } from "@parley/mcp/apps";
import { stdioTransport } from "@parley/mcp/node";
import type { Tool } from "@parley/mcp/protocol";
import { describe, expect, it } from "vitest";
import { hasPublished } from "./browser-stage.js";

const peer = (path: string) => fileURLToPath(new URL(`../../peers/${path}`, import.meta.url));

/** What a published host asks about a tool. */
interface PublishedHost {
  getToolUiResourceUri(tool: Tool): string | undefined;
  isToolVisibilityAppOnly(tool: Tool): boolean;
  isToolVisibilityModelOnly(tool: Tool): boolean;
}

describe.runIf(hasPublished)("the published @modelcontextprotocol/ext-apps", () => {
  it("APP-02, APP-03, APP-05: its pages are read by our client", async () => {
    const extension = apps();
    const transport = stdioTransport({ command: process.execPath, args: [peer("programs/apps-server.mjs")] });
    const client = await connect(transport, { extensions: [extension] });
    const pages = client.extension(extension);
    const tools = await client.allTools();
    expect(pages.toolsForModel(tools).map(({ name }) => name)).toEqual(["map"]);
    for (const tool of tools) {
      expect(await pages.pageOf(tool)).toEqual({
        uri: "ui://map",
        html: "<!doctype html>",
        csp: { connectDomains: ["https://tiles.example.com"] },
        permissions: ["camera"],
        domain: undefined,
        prefersBorder: true,
      });
    }
    await client.close();
  });

  it("APP-03: understands the pages of our tools", async () => {
    const server = new Server({ name: "s", version: "1" }, { extensions: [apps()] })
      .tool("both", { ui: { uri: "ui://a", html: "<p>" } }, () => "")
      .tool("app", { ui: { uri: "ui://a", visibility: ["app"] } }, () => "")
      .tool("model", { ui: { uri: "ui://a", visibility: ["model"] } }, () => "")
      .tool("none", () => "");
    const client = await connect(server);
    const path = "node_modules/@modelcontextprotocol/ext-apps/dist/src/app-bridge.js";
    // Safe: the package's declarations say so.
    const published = (await import(pathToFileURL(peer(path)).href)) as PublishedHost;
    const seen = (await client.allTools()).map((tool) => [
      published.getToolUiResourceUri(tool),
      published.isToolVisibilityAppOnly(tool),
      published.isToolVisibilityModelOnly(tool),
    ]);
    expect(seen).toEqual([
      ["ui://a", false, false],
      ["ui://a", true, false],
      ["ui://a", false, true],
      [undefined, false, false],
    ]);
    await client.close();
  });
});
