import { fetchHandler } from "@parley/mcp";
import { parleyZod } from "./parley-zod.js";

export default { fetch: fetchHandler(parleyZod()) };
