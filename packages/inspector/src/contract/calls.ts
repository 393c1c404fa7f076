import type { ShownProblem } from "./connections.js";

/** Something that the user asks of a server. */
export type CallRequest =
  | {
      readonly kind: "tool";
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      /** Run it as a task, where the tool allows it. */
      readonly asTask?: boolean | undefined;
    }
  | { readonly kind: "prompt"; readonly name: string; readonly arguments: Readonly<Record<string, string>> }
  | { readonly kind: "resource"; readonly uri: string }
  | { readonly kind: "skill"; readonly name: string }
  /** Any request, as it is. */
  | { readonly kind: "request"; readonly method: string; readonly params: Readonly<Record<string, unknown>> };

/** `failed`: the server, the connection or the tool says so; the outcome has which. */
export type CallStatus = "running" | "done" | "failed" | "cancelled";

/** A call in short. */
export interface CallInfo {
  readonly id: string;
  readonly connection: string;
  readonly kind: CallRequest["kind"];
  /** The tool, prompt, URI, skill or method. */
  readonly name: string;
  readonly status: CallStatus;
  /** Milliseconds since the inspector began. */
  readonly startedMs: number;
  readonly durationMs?: number | undefined;
  readonly progress?:
    | { readonly progress: number; readonly total?: number | undefined; readonly message?: string | undefined }
    | undefined;
  readonly task?: { readonly id: string; readonly status: string; readonly message?: string | undefined } | undefined;
}

/** How a call ended. */
export interface CallOutcome {
  readonly call: CallInfo;
  readonly request: CallRequest;
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  readonly problem?: ShownProblem | undefined;
  /** Bytes of the result as JSON. */
  readonly bytes: number;
}
