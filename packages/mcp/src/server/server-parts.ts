import { McpError } from "../protocol/error.js";
import type { MountableServer } from "./sources/mount.js";

/** By server, because its parts are not members that users see. */
const PARTS = new WeakMap<object, MountableServer>();

/** Makes the parts of a server known to `partsOf`. */
export function keepParts(server: object, parts: MountableServer): void {
  PARTS.set(server, parts);
}

/** What a server is made of, for those who serve in its place. Throws for what is no server. */
export function partsOf(server: object): MountableServer {
  const parts = PARTS.get(server);
  if (parts !== undefined) return parts;
  throw new McpError("invalid_definition", "this is no `Server` of this copy of the package", {
    fix: "Pass what `new Server(…)` made.",
  });
}
