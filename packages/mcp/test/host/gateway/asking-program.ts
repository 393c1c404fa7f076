import { serveStdio } from "@parley/mcp/node";
import { askingServer } from "./asking-server.js";

await serveStdio(askingServer());
