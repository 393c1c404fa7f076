import { isThenable } from "../../encoding/maybe-promise.js";
import { isObject } from "../../jsonrpc/message.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { type CompleteResult, type Completion, MAX_COMPLETION_VALUES } from "../../protocol/features/completion.js";
import type { Feature, MethodHandler } from "../call/feature.js";
import type { ServerCall } from "../call/server-call.js";
import type { RequestContext } from "../contract/context.js";

/** Suggestions, best first. Clients get the first 100, and learn whether there are more. */
export type Completions = readonly string[] | { values: readonly string[]; total?: number; hasMore?: boolean };

/**
 * Completes one argument: either the list of all values, which is filtered by what was typed, or a function that gets what
 * was typed so far and the arguments that are already filled in.
 */
export type Completer =
  | readonly string[]
  | ((
      value: string,
      args: Readonly<Record<string, string>>,
      ctx: RequestContext,
    ) => Completions | Promise<Completions>);

/** The arguments of one prompt or template, with their completer if they have one. */
export type CompletableArguments = ReadonlyMap<string, Completer | undefined>;

/** Finds what can be completed: prompts by name, resources by URI or template. */
export interface CompletionSource {
  /** True when at least one argument can be completed. */
  readonly completes: boolean;
  /** The arguments of what `name` refers to; undefined when this caller sees nothing of that name. */
  completable(name: string, call: ServerCall): CompletableArguments | undefined;
}

/** Serves `completion/complete` for prompts and resource templates. */
export class CompletionFeature implements Feature {
  readonly handlers: Readonly<Record<string, MethodHandler>>;
  readonly #prompts: CompletionSource;
  readonly #resources: CompletionSource;

  constructor(prompts: CompletionSource, resources: CompletionSource) {
    this.#prompts = prompts;
    this.#resources = resources;
    this.handlers = { "completion/complete": (call) => this.#complete(call) };
  }

  capabilities(): ServerCapabilities {
    return this.#prompts.completes || this.#resources.completes ? { completions: {} } : {};
  }

  #complete(call: ServerCall): CompleteResult | Promise<CompleteResult> {
    const { argument, context } = call.request.params;
    const { what, known } = this.#referred(call);
    if (!isObject(argument) || typeof argument["name"] !== "string" || typeof argument["value"] !== "string") {
      throw new McpError("invalid_params", "`params.argument` must have a `name` and a `value`, both strings");
    }
    const { name, value } = argument;
    if (!known.has(name)) {
      throw new McpError("invalid_params", `${what} has no argument "${name}"`, {
        fix: known.size === 0 ? "It takes none." : `It takes ${[...known.keys()].join(", ")}.`,
      });
    }
    const completer = known.get(name);
    if (completer === undefined) return completed(what, []);
    if (typeof completer !== "function") return completed(what, fitting(completer, value));
    const completions = completer(value, settledArguments(context), call.ctx);
    if (!isThenable(completions)) return completed(what, completions);
    return Promise.resolve(completions).then((settled) => completed(what, settled));
  }

  #referred(call: ServerCall): { what: string; known: CompletableArguments } {
    const { ref } = call.request.params;
    const type = isObject(ref) ? ref["type"] : undefined;
    const [source, member] = type === "ref/prompt" ? [this.#prompts, "name"] : [this.#resources, "uri"];
    if (!isObject(ref) || (type !== "ref/prompt" && type !== "ref/resource") || typeof ref[member] !== "string") {
      throw new McpError(
        "invalid_params",
        "`params.ref` must be a ref/prompt with `name` or a ref/resource with `uri`",
      );
    }
    const name = ref[member];
    const what = `the ${type === "ref/prompt" ? "prompt" : "resource"} "${name}"`;
    const known = source.completable(name, call);
    if (known === undefined) throw new McpError("invalid_params", `${what} does not exist`);
    return { what, known };
  }
}

/** The arguments that are already filled in; values that are not strings are ignored. */
function settledArguments(context: unknown): Record<string, string> {
  const args = isObject(context) ? context["arguments"] : undefined;
  if (!isObject(args)) return {};
  // `fromEntries` defines properties, so an argument called `__proto__` is ordinary data.
  return Object.fromEntries(
    Object.entries(args).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** The values that start with what was typed, then those that contain it, ignoring case. */
function fitting(values: readonly string[], typed: string): string[] {
  const text = typed.toLowerCase();
  const starting: string[] = [];
  const containing: string[] = [];
  for (const value of values) {
    const index = value.toLowerCase().indexOf(text);
    if (index === 0) starting.push(value);
    else if (index > 0) containing.push(value);
  }
  return [...starting, ...containing];
}

/** The result that clients get for what a completer returned. */
export function completed(what: string, completions: Completions): CompleteResult {
  const all = Array.isArray(completions)
    ? { values: completions as readonly string[] }
    : (completions as Exclude<Completions, readonly string[]>);
  if (!isObject(all) || !Array.isArray(all.values) || !all.values.every((value) => typeof value === "string")) {
    throw new McpError("misuse", `the completer of ${what} returned something other than strings`, {
      fix: "Return an array of strings, or an object with `values`.",
    });
  }
  const values = all.values.slice(0, MAX_COMPLETION_VALUES);
  const total = all.total ?? (all.hasMore === true ? undefined : all.values.length);
  const completion: Completion = {
    values,
    ...(total === undefined ? {} : { total }),
    hasMore: all.hasMore === true || (total ?? 0) > values.length,
  };
  return { completion };
}
