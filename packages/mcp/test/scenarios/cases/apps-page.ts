import { Server } from "@parley/mcp";
import { apps, showsApps } from "@parley/mcp/apps";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

export default scenario({
  name: "a tool has a page, which hosts read with what it needs, and which other clients do not need",
  ids: ["APP-01", "APP-02", "APP-03", "APP-04", "APP-05"],
  server: () =>
    new Server({ name: "s", version: "1" }, { extensions: [apps()] })
      .tool(
        "map",
        {
          ui: {
            uri: "ui://map",
            html: async () => "<!doctype html><title>Größe</title>",
            csp: { connectDomains: ["https://tiles.example.com"] },
            permissions: ["geolocation"],
          },
        },
        (_args, ctx) => (showsApps(ctx) ? "see the map" : "It is sunny."),
      )
      .tool("refresh", { ui: { uri: "ui://map", visibility: ["app"] } }, () => "rain"),
  async run({ connect }) {
    const extension = apps();
    const host = await connect({ extensions: [extension] });
    const pages = host.extension(extension);
    const tools = await host.allTools();
    expect(pages.toolsForModel(tools).map(({ name }) => name)).toEqual(["map"]);
    expect(tools.filter(pages.mayBeCalledByApp).map(({ name }) => name)).toEqual(["map", "refresh"]);
    for (const tool of tools) {
      expect(await pages.pageOf(tool)).toEqual({
        uri: "ui://map",
        html: "<!doctype html><title>Größe</title>",
        csp: { connectDomains: ["https://tiles.example.com"] },
        permissions: ["geolocation"],
        domain: undefined,
        prefersBorder: undefined,
      });
    }
    expect(await host.call("map")).toBe("see the map");
    const plain = await connect();
    expect(await plain.call("map")).toBe("It is sunny.");
    expect(await plain.allTools()).toEqual(tools);
  },
});
