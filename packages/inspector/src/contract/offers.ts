import type { Finding } from "@parley/mcp/lint";
import type { OfferKind } from "./connections.js";

/** An entry of a list, in short; descriptions are cut. */
export interface OfferSummary {
  /** The name, URI or URI template, which identifies it. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** What it is besides: `read-only`, `destructive`, `task`, `app`, a media type. */
  readonly marks: readonly string[];
  /** Findings of lint that are errors or warnings. */
  readonly findings: number;
}

/** A list of a server. */
export interface OfferList {
  readonly kind: OfferKind;
  readonly offers: readonly OfferSummary[];
  /** More than these are not read. */
  readonly cut: boolean;
}

/** An entry of a list as the server sent it. */
export interface OfferDetail {
  readonly kind: OfferKind;
  readonly definition: Readonly<Record<string, unknown>>;
  /** Of tools: what lint says. */
  readonly findings: readonly Finding[];
}
