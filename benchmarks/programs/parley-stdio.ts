import { serveStdio } from "@parley/mcp/node";
import { parleyServer } from "./parley-server.js";

await serveStdio(parleyServer());
