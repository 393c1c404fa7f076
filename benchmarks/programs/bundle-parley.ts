import { fetchHandler } from "@parley/mcp";
import { parleyServer } from "./parley-server.js";

export default { fetch: fetchHandler(parleyServer()) };
