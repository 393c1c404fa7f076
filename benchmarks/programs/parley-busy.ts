import { isolated, serveStdio } from "@parley/mcp/node";
import busy from "./busy-tool.mjs";
import { parleyServer } from "./parley-server.js";

const input = { type: "object", properties: { ms: { type: "number" } }, required: ["ms"] } as const;
const module = new URL("./busy-tool.mjs", import.meta.url);
// In this thread, or outside of it.
const handler = process.argv[2] === "isolated" ? isolated<typeof import("./busy-tool.mjs")>(module, { size: 1 }) : busy;

await serveStdio(parleyServer().tool("busy", { input }, handler));
