import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { Revision } from "../../protocol/revisions.js";

/** What an earlier connection learnt about a server, from `client.prior`; it replaces the probe. */
export interface Prior {
  revision: Revision;
  /** The server's capabilities; with them, a stateless connection sends nothing before the first call. */
  capabilities?: ServerCapabilities | undefined;
  serverInfo?: Implementation | undefined;
  instructions?: string | undefined;
}

/** What a later connection may know of this one, as JSON. */
export function priorOf({
  era,
  capabilities,
  serverInfo,
  instructions,
}: Omit<Prior, "revision"> & { era: { revision: Revision } }): Prior {
  return {
    revision: era.revision,
    capabilities,
    ...(serverInfo === undefined ? {} : { serverInfo }),
    ...(instructions === undefined ? {} : { instructions }),
  };
}
