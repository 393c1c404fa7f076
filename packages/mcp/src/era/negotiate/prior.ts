import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { Implementation } from "../../protocol/implementation.js";
import type { Revision } from "../../protocol/revisions.js";

/** What was learnt about a server before; skips the question which revisions it speaks. `client.prior` gives it. */
export interface Prior {
  revision: Revision;
  /** What the server offered; with it a stateless connection needs no message at all before the first call. */
  capabilities?: ServerCapabilities;
  serverInfo?: Implementation;
  instructions?: string;
}
