import type { ConnectionInfo } from "../../src/contract/connections.js";

/** Lists of a server, forms and results. */
export function UseView(_props: { readonly connection: ConnectionInfo }) {
  return null;
}
