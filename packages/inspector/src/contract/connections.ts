import type { LoggingLevel, Revision, Root } from "@parley/mcp/protocol";

/** What went wrong, in the words of the library. */
export interface ShownProblem {
  readonly message: string;
  /** What to change. */
  readonly fix?: string | undefined;
  /** The kind of an `McpError`. */
  readonly kind?: string | undefined;
  /** The code that the server sent. */
  readonly code?: number | undefined;
  /** What belongs to it: of the server, or of the library. */
  readonly data?: unknown;
}

/** A server that can be connected to. Commands, modules and servers of this process come from the terminal alone. */
export interface TargetInfo {
  readonly id: string;
  readonly kind: "url" | "command" | "module" | "server" | "file";
  /** As the terminal would be given it, without secrets. */
  readonly shown: string;
}

/**
 * `login`: waits for the user to log in. `lost`: was ready, and is being opened again. `imported`: a recorded session, which has no
 * server.
 */
export type ConnectionStatus = "connecting" | "login" | "ready" | "lost" | "failed" | "closed" | "imported";

/** One step on the way to a token. */
export interface LoginStep {
  readonly step: "challenge" | "discovery" | "registration" | "login" | "token" | "refresh" | "other";
  /** The number of its entry in the timeline, where the whole exchange is. */
  readonly seq?: number | undefined;
  /** What was asked of whom, such as `GET https://…`. */
  readonly shown: string;
  readonly outcome: string;
  readonly ok: boolean;
}

/** How far a login has come. */
export interface LoginInfo {
  readonly steps: readonly LoginStep[];
  /** The page to visit, while the user is waited for. It is shown before it is opened. */
  readonly visit?: string | undefined;
  /** The scopes that were granted, if known. */
  readonly scopes?: readonly string[] | undefined;
}

/** The lists that a server may have. */
export type OfferKind = "tools" | "resources" | "templates" | "prompts" | "skills";

/** One connection of the inspector. */
export interface ConnectionInfo {
  readonly id: string;
  readonly target: TargetInfo;
  readonly status: ConnectionStatus;
  /** The revision that the user chose; absent where it is negotiated. */
  readonly wanted?: Revision | undefined;
  readonly revision?: Revision | undefined;
  readonly era?: "stateful" | "stateless" | undefined;
  readonly server?:
    | { readonly name: string; readonly version: string; readonly title?: string | undefined }
    | undefined;
  readonly instructions?: string | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** How often it was opened, the first time included: more than 1 after a loss. */
  readonly opened: number;
  readonly problem?: ShownProblem | undefined;
  readonly login?: LoginInfo | undefined;
  readonly roots: readonly Root[];
  readonly logLevel?: LoggingLevel | undefined;
  /** Counts the changes of each list, so that a page knows when to ask again. Lists that the server does not have are absent. */
  readonly lists: Readonly<Partial<Record<OfferKind, number>>>;
}
