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

/** The kinds that a server lists, and how each is listed, keyed and used. */
export const LISTED_KINDS = {
  tool: { list: "tools/list", member: "tools", key: "name", use: "tools/call" },
  prompt: { list: "prompts/list", member: "prompts", key: "name", use: "prompts/get" },
  resourceTemplate: {
    list: "resources/templates/list",
    member: "resourceTemplates",
    key: "uriTemplate",
    use: undefined,
  },
} as const;

export type ListedKind = keyof typeof LISTED_KINDS;
