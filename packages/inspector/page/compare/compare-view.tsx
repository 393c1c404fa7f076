import type { ConnectionInfo } from "../../src/contract/connections.js";

/** The same call in both eras, side by side. */
export function CompareView(_props: { readonly connection: ConnectionInfo }) {
  return null;
}
