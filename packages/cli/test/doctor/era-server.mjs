import { Server } from "@parley/mcp";
import { serveStdio } from "@parley/mcp/node";

// Speaks the one revision that it is started with.
const [revision] = process.argv.slice(2);
const server = new Server({ name: "era", version: "1" }, { revisions: [revision] }).tool(
  "hello",
  { description: "Says hello" },
  () => "hello",
);
await serveStdio(server);
