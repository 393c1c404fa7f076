import { connect } from "@parley/mcp";
import { apps, contentPolicy } from "@parley/mcp/apps";
import { server } from "./server.js";

// What a host does before it shows a page; `showApp` does the rest, in a browser.
const extension = apps();
const host = await connect(server, { extensions: [extension] });
const pages = host.extension(extension);

const tools = await host.allTools();
const forModel = pages.toolsForModel(tools);
console.log(`model    ${forModel.map(({ name }) => name).join(", ")}`);
console.log(
  `page     ${tools
    .filter(pages.mayBeCalledByApp)
    .map(({ name }) => name)
    .join(", ")}`,
);

const [tool] = forModel;
const page = tool === undefined ? undefined : await pages.pageOf(tool);
console.log(`reads    ${page?.uri}, ${page?.html.split("\n").length} lines`);
console.log(`asks for ${page?.permissions.join(", ")}`);
for (const directive of contentPolicy(page?.csp).split("; ").slice(0, 3)) console.log(`policy   ${directive}`);

const shown = await host.callTool("show_tides", { city: "Bergen" });
console.log(`shown    ${JSON.stringify(shown.structuredContent)}`);
await host.close();

// A client without apps gets the same tools, and everything as text.
const plain = await connect(server);
const told = await plain.callTool("show_tides", { city: "Bergen" });
console.log(`told     ${told.content[0]?.type === "text" ? told.content[0].text : ""}`);
await plain.close();
