import { Server } from "@parley/mcp";
import { apps, showsApps } from "@parley/mcp/apps";

// A page of its own project would be bundled into one text, with `connectToHost` of `@parley/mcp/apps-view` in its script.
const page = `<!doctype html>
<title>Tides</title>
<canvas id="tides"></canvas>
<script type="module">/* the bundle */</script>`;

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
const heights = { Oslo: [0.2, 0.4, 0.3], Bergen: [0.9, 1.6, 1.1] } as Record<string, number[]>;

export const server = new Server({ name: "tides", version: "1.0.0" }, { extensions: [apps()] })
  .tool(
    "show_tides",
    {
      description: "Shows the tides of a city",
      input: city,
      ui: {
        uri: "ui://tides/chart",
        html: page,
        csp: { resourceDomains: ["https://fonts.example.com"] },
        permissions: ["geolocation"],
      },
    },
    ({ city }, ctx) => ({
      content: [
        { type: "text", text: showsApps(ctx) ? `Tides of ${city}` : `${city}: ${heights[city]?.join(", ")} m` },
      ],
      structuredContent: { heights: heights[city] },
    }),
  )
  // For the page alone: models do not see it.
  .tool("refresh", { input: city, ui: { uri: "ui://tides/chart", visibility: ["app"] } }, ({ city }) => ({
    structuredContent: { heights: heights[city] },
  }));
