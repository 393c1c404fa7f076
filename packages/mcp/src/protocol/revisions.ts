/** The published revisions of the protocol, oldest first. */
export const REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const;

/** A published revision. */
export type Revision = (typeof REVISIONS)[number];

/**
 * `stateful` revisions begin with an `initialize` handshake. In `stateless` revisions every request is self-contained.
 */
export type EraName = "stateful" | "stateless";

/** The differences between revisions. The library omits or converts features that a revision lacks. */
export interface RevisionFeatures {
  /** The era that the revision belongs to. */
  era: EraName;
  /** True if a message may be an array of messages. */
  batch: boolean;
  /** True if content may be audio. */
  audio: boolean;
  /** True if content may be a `resource_link`. */
  resourceLink: boolean;
  /** True if tools have `annotations`. */
  toolAnnotations: boolean;
  /** True if listed items have `title`, and annotations have `lastModified`. */
  title: boolean;
  /**
   * True if listed items and implementations have `icons`, and implementations have `description` and `websiteUrl`.
   */
  icons: boolean;
  /** The type of structured content: none, objects only, or any JSON value. */
  structuredContent: "none" | "object" | "any";
  /** True if servers declare the capability `completions`. */
  completionsCapability: boolean;
  /** True if progress notifications have a `message`. */
  progressMessage: boolean;
  /** The supported modes of elicitation. */
  elicitation: "none" | "form" | "form+url";
  /** True if the revision has `elicitationId`, `notifications/elicitation/complete` and the URL-required error. */
  elicitationIds: boolean;
  /** True if sampling allows tools, and content arrays in its messages. */
  samplingTools: boolean;
  /** True if HTTP requests carry the `MCP-Protocol-Version` header. */
  versionHeader: boolean;
  /** True if an SSE stream may begin with an empty event that carries an id. */
  primingEvent: boolean;
  /** True if HTTP requests repeat in `Mcp-Param-*` headers the arguments that the tool's schema maps to headers. */
  paramHeaders: boolean;
  /** True if results state how long they may be cached. */
  cacheHints: boolean;
  /** The error code for a missing resource. */
  notFoundCode: number;
  /** The form of tasks: none, an experimental part of the protocol, or an extension. */
  tasks: "none" | "experimental" | "extension";
}

const FIRST: RevisionFeatures = {
  era: "stateful",
  batch: false,
  audio: false,
  resourceLink: false,
  toolAnnotations: false,
  title: false,
  icons: false,
  structuredContent: "none",
  completionsCapability: false,
  progressMessage: false,
  elicitation: "none",
  elicitationIds: false,
  samplingTools: false,
  versionHeader: false,
  primingEvent: false,
  paramHeaders: false,
  cacheHints: false,
  notFoundCode: -32002,
  tasks: "none",
};

const MARCH_2025: RevisionFeatures = {
  ...FIRST,
  batch: true,
  audio: true,
  toolAnnotations: true,
  completionsCapability: true,
  progressMessage: true,
};

const JUNE_2025: RevisionFeatures = {
  ...MARCH_2025,
  batch: false,
  resourceLink: true,
  title: true,
  structuredContent: "object",
  elicitation: "form",
  versionHeader: true,
};

const NOVEMBER_2025: RevisionFeatures = {
  ...JUNE_2025,
  icons: true,
  elicitation: "form+url",
  elicitationIds: true,
  samplingTools: true,
  primingEvent: true,
  tasks: "experimental",
};

const JULY_2026: RevisionFeatures = {
  ...NOVEMBER_2025,
  era: "stateless",
  structuredContent: "any",
  elicitationIds: false,
  primingEvent: false,
  paramHeaders: true,
  cacheHints: true,
  notFoundCode: -32602,
  tasks: "extension",
};

const FEATURES: Record<Revision, RevisionFeatures> = {
  "2024-11-05": FIRST,
  "2025-03-26": MARCH_2025,
  "2025-06-18": JUNE_2025,
  "2025-11-25": NOVEMBER_2025,
  "2026-07-28": JULY_2026,
};

/** The error code for a missing resource. */
export function notFoundCodeOf(revision: Revision): number {
  return featuresOf(revision).notFoundCode;
}

/** The features of a revision. */
export function featuresOf(revision: Revision): RevisionFeatures {
  return FEATURES[revision];
}

/**
 * The revision and its era, for display.
 *
 * @example
 * ```ts
 * import { shownRevision } from "@parley/mcp/protocol";
 *
 * shownRevision("2025-11-25"); // { protocolVersion: "2025-11-25", era: "stateful" }
 * ```
 */
export function shownRevision(revision: Revision): { protocolVersion: Revision; era: EraName } {
  return { protocolVersion: revision, era: featuresOf(revision).era };
}

/**
 * True for a published revision.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function isRevision(value: unknown): value is Revision {
  return typeof value === "string" && Object.hasOwn(FEATURES, value);
}

/**
 * True if a revision is between `first` and `last`. Revisions are ISO dates, so comparing them as strings is correct.
 */
export function isWithin(revision: Revision, first: Revision, last?: Revision): boolean {
  return revision >= first && (last === undefined || revision <= last);
}

/** The revisions of one era, newest first. */
export function revisionsOf(era: EraName, among: readonly Revision[] = REVISIONS): Revision[] {
  return REVISIONS.filter((revision) => FEATURES[revision].era === era && among.includes(revision)).reverse();
}

/** The newest revision of the stateful era. */
export const NEWEST_STATEFUL: Revision = "2025-11-25";

/** The newest revision of the stateless era. */
export const NEWEST_STATELESS: Revision = "2026-07-28";
