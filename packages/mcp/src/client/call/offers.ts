import { hasCapability } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { MethodRow } from "../../protocol/methods.js";
import { featuresOf } from "../../protocol/revisions.js";
import type { Link } from "../connection/connection.js";

/** Knows what the server at the other end offers, and refuses the rest before the wire. */
export class Offers {
  readonly #link: Link;
  /** Methods that were found to be offered under the handshake of `#epoch`. */
  readonly #offered = new Set<string>();
  #epoch = -1;

  constructor(link: Link) {
    this.#link = link;
  }

  /** Throws `capability_missing` when the server said that it does not offer a method. */
  require(row: MethodRow | undefined): void {
    if (row?.capability === undefined) return;
    const { epoch } = this.#link;
    if (this.#epoch !== epoch) {
      this.#offered.clear();
      this.#epoch = epoch;
    }
    if (this.#offered.has(row.method)) return;
    const { capabilities, era } = this.#link.established;
    // The oldest revision has completion without a capability for it.
    const unnamed = row.capability === "completions" && !featuresOf(era.revision).completionsCapability;
    if (!unnamed && !hasCapability(capabilities, row.capability)) {
      throw new McpError(
        "capability_missing",
        `the server does not offer ${row.method}: it declares no "${row.capability}"`,
        {
          data: { capability: row.capability },
          fix: "Look at `client.serverCapabilities` before calling.",
        },
      );
    }
    this.#offered.add(row.method);
  }
}
