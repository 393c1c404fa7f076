import type { CallOptions } from "./contract/options.js";

/** Tools of a server that is known only at run time. */
export type LooseTools = { [name: string]: { args: Record<string, unknown>; result: unknown } };

/** Prompts of a server that is known only at run time. */
export type LoosePrompts = { [name: string]: { [name: string]: string } };

/** The arguments of a call; may be left out when the tool needs none. */
// biome-ignore lint/complexity/noBannedTypes: `{} extends A` asks whether every member of A is optional
export type CallArguments<A> = {} extends A ? [args?: A, options?: CallOptions] : [args: A, options?: CallOptions];

/** The arguments of one tool. */
export type ArgsOf<T, N extends keyof T> = T[N] extends { args: infer A } ? A : never;

/** What one tool gives. */
export type ValueOf<T, N extends keyof T> = T[N] extends { result: infer R } ? R : never;

/** Options of several requests at once. */
export interface ManyOptions extends CallOptions {
  /** Requests that run at the same time. Default 8. */
  concurrency?: number | undefined;
}
