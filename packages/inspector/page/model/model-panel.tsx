import type { ConnectionInfo } from "../../src/contract/connections.js";

/** The tools of a server as each provider receives them. */
export function ModelPanel(_props: { readonly connection: ConnectionInfo }) {
  return null;
}
