import type { Link } from "../connection/connection.js";

/** Whether the revision of this connection has a message of this name; false before the first handshake. */
export function hasMethod(link: Link, method: string): boolean {
  return link.era !== undefined && link.methods.at(method, link.era.revision) !== undefined;
}
