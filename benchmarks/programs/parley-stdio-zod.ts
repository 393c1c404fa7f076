import { serveStdio } from "@parley/mcp/node";
import { parleyZod } from "./parley-zod.js";

serveStdio(parleyZod());
