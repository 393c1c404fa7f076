// A server of the official SDK whose tools have pages by the published @modelcontextprotocol/ext-apps, on stdin and stdout.
import { RESOURCE_MIME_TYPE, registerAppResource, registerAppTool } from "@modelcontextprotocol/ext-apps/server";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

serveStdio(() => {
  const server = new McpServer({ name: "published", version: "2" });
  const inputSchema = z.object({});
  const answer = async () => ({ content: [{ type: "text", text: "sunny" }] });
  registerAppTool(server, "map", { inputSchema, _meta: { ui: { resourceUri: "ui://map" } } }, answer);
  const forApps = { resourceUri: "ui://map", visibility: ["app"] };
  registerAppTool(server, "refresh", { inputSchema, _meta: { ui: forApps } }, answer);
  const ui = {
    csp: { connectDomains: ["https://tiles.example.com"] },
    permissions: { camera: {} },
    prefersBorder: true,
  };
  registerAppResource(server, "Map", "ui://map", {}, async () => ({
    contents: [{ uri: "ui://map", mimeType: RESOURCE_MIME_TYPE, text: "<!doctype html>", _meta: { ui } }],
  }));
  return server;
});
