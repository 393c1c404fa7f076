import type { Finding } from "@parley/mcp/lint";
import type { OfferKind } from "./connections.js";

/** A summary of a list entry, with a truncated description. */
export interface OfferSummary {
  /** The name, URI or URI template that identifies the entry. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** Labels, such as `read-only`, `task`, `app`, a media type or a size. */
  readonly marks: readonly string[];
  /** Number of lint findings that are errors or warnings. */
  readonly findings: number;
}

/** A list of a server. */
export interface OfferList {
  readonly kind: OfferKind;
  readonly offers: readonly OfferSummary[];
  /** True if the server has more entries, which are not read, or if the list does not end. */
  readonly cut: boolean;
}

/** A list entry as the server sent it. */
export interface OfferDetail {
  readonly kind: OfferKind;
  readonly definition: Readonly<Record<string, unknown>>;
  /** The lint findings. Empty for entries other than tools. */
  readonly findings: readonly Finding[];
}
