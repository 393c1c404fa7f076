import { serveStdio } from "@parley/mcp/node";
import { failingServer } from "./failing-server.js";

await serveStdio(failingServer());
