import { OFFER_KINDS } from "../protocol/features/offer-kinds.js";

/** What a lock pins of a server. */
export type PinnedKind = "server" | "tool" | "prompt" | "resourceTemplate";

/** One pinned definition. */
export interface PinnedItem {
  /** `sha256-` and the SHA-256 of the definition as canonical JSON, in hexadecimal. */
  readonly digest: string;
  /** What was pinned, in canonical form, to be compared and read. */
  readonly definition: Readonly<Record<string, unknown>>;
}

/** What one server offered when it was approved. Made by `lockOf`. */
export interface ServerLock {
  /** Its name and its instructions for models. */
  readonly server: PinnedItem;
  /** By name. */
  readonly tools: Readonly<Record<string, PinnedItem>>;
  /** By name. */
  readonly prompts: Readonly<Record<string, PinnedItem>>;
  /** By URI template. */
  readonly resourceTemplates: Readonly<Record<string, PinnedItem>>;
}

/** The locks of several servers, as a file keeps them. Read it by `readLock`. */
export interface LockFile {
  readonly lockfileVersion: 1;
  /** By the name that the user gave to the server. */
  readonly servers: Readonly<Record<string, ServerLock>>;
}

/** The kinds that a server lists and a lock pins, by their names in differences. */
export const LISTED_KINDS = {
  tool: { member: "tools", ...OFFER_KINDS.tools },
  prompt: { member: "prompts", ...OFFER_KINDS.prompts },
  resourceTemplate: { member: "resourceTemplates", ...OFFER_KINDS.resourceTemplates },
} as const;

export type ListedKind = keyof typeof LISTED_KINDS;
