import type { LoggingLevel, Revision, Root } from "@parley/mcp/protocol";

/** An error of the library as the page shows it. */
export interface ProblemInfo {
  readonly message: string;
  /** Advice on how to solve the problem. */
  readonly fix?: string | undefined;
  /** The kind of the `McpError`. */
  readonly kind?: string | undefined;
  /** The error code that the server sent. */
  readonly code?: number | undefined;
  /** The data of the error, from the server or from the library. */
  readonly data?: unknown;
}

/**
 * A server to connect to. Commands, modules and servers of this process can be added only on the command line, not on
 * the page.
 */
export interface TargetInfo {
  readonly id: string;
  readonly kind: "url" | "command" | "module" | "server" | "file";
  /** The target as it would be written on a command line, without secrets. */
  readonly shown: string;
}

/**
 * `login`: waits for the user to log in. `lost`: the connection broke and is being opened again. `imported`: a recorded
 * session without a server.
 */
export type ConnectionStatus = "connecting" | "login" | "ready" | "lost" | "failed" | "closed" | "imported";

/** One step of a login. */
export interface LoginStep {
  readonly step: "challenge" | "discovery" | "registration" | "login" | "token" | "refresh" | "other";
  /** The sequence number of the step's entry in the timeline, which has the whole HTTP exchange. */
  readonly seq?: number | undefined;
  /** The request, such as `GET https://…`. */
  readonly shown: string;
  readonly outcome: string;
  readonly ok: boolean;
}

/** The progress of a login. */
export interface LoginInfo {
  readonly steps: readonly LoginStep[];
  /**
   * The address of the login page, while the user has to log in. The inspector shows this address before the user opens
   * it.
   */
  readonly visit?: string | undefined;
  /** The granted scopes, or the requested ones until the server names the granted ones. Absent if unknown. */
  readonly scopes?: readonly string[] | undefined;
}

/** The lists that a server can have. */
export type OfferKind = "tools" | "resources" | "templates" | "prompts" | "skills";

/** A connection of the inspector. */
export interface ConnectionInfo {
  readonly id: string;
  readonly target: TargetInfo;
  readonly status: ConnectionStatus;
  /** The revision that the user chose. Absent if the revision is negotiated. */
  readonly wanted?: Revision | undefined;
  readonly revision?: Revision | undefined;
  readonly era?: "stateful" | "stateless" | undefined;
  readonly server?:
    | { readonly name: string; readonly version: string; readonly title?: string | undefined }
    | undefined;
  readonly instructions?: string | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Number of times the connection was opened. More than 1 after the connection was lost or opened again. */
  readonly opened: number;
  readonly problem?: ProblemInfo | undefined;
  readonly login?: LoginInfo | undefined;
  readonly roots: readonly Root[];
  readonly logLevel?: LoggingLevel | undefined;
  /**
   * A counter for each list. It grows when the list changes, and the page then reads the list again. Absent for lists
   * that the server does not have.
   */
  readonly lists: Readonly<Partial<Record<OfferKind, number>>>;
}
