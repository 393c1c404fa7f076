import type { ProblemInfo } from "./connections.js";

/** A request that the user makes to a server. */
export type CallRequest =
  | {
      readonly kind: "tool";
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      /** Runs the tool as a task, if the tool allows it. */
      readonly asTask?: boolean | undefined;
    }
  | { readonly kind: "prompt"; readonly name: string; readonly arguments: Readonly<Record<string, string>> }
  | { readonly kind: "resource"; readonly uri: string }
  | { readonly kind: "skill"; readonly name: string }
  /** Any request, sent as is. */
  | { readonly kind: "request"; readonly method: string; readonly params: Readonly<Record<string, unknown>> };

/** `failed`: the server, the connection or the tool failed. The outcome has the details. */
export type CallStatus = "running" | "done" | "failed" | "cancelled";

/** A summary of a call. */
export interface CallInfo {
  readonly id: string;
  readonly connection: string;
  readonly kind: CallRequest["kind"];
  /** The name of the tool or prompt, the URI of the resource or skill, or the method. */
  readonly name: string;
  readonly status: CallStatus;
  /** Milliseconds since the inspector started. */
  readonly startedMs: number;
  readonly durationMs?: number | undefined;
  readonly progress?:
    | { readonly progress: number; readonly total?: number | undefined; readonly message?: string | undefined }
    | undefined;
  readonly task?: { readonly id: string; readonly status: string; readonly message?: string | undefined } | undefined;
}

/** The outcome of a call. */
export interface CallOutcome {
  readonly call: CallInfo;
  readonly request: CallRequest;
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  readonly problem?: ProblemInfo | undefined;
  /** Size of the result as JSON. 0 if there is no result. */
  readonly bytes: number;
}
