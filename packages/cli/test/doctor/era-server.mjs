import { Server } from "@parley/mcp";
import { serveStdio } from "@parley/mcp/node";

// Speaks the revisions that it is started with, or all.
const given = process.argv.slice(2);
const revisions = given.length === 0 ? undefined : given;
const server = new Server({ name: "era", version: "1" }, { revisions }).tool(
  "hello",
  { description: "Says hello" },
  () => "hello",
);
await serveStdio(server);
