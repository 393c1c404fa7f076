import { isThenable } from "../../encoding/maybe-promise.js";
import { isObject } from "../../jsonrpc/message.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { type CompleteResult, type Completion, MAX_COMPLETION_VALUES } from "../../protocol/features/completion.js";
import type { ServerCall } from "../call/server-call.js";
import type { RequestContext } from "../context.js";
import type { Feature, MethodHandler } from "./feature.js";

/** Suggestions, best first. Of more than 100 the rest is left out, and the client learns that there are more. */
export type Completions = readonly string[] | { values: readonly string[]; total?: number; hasMore?: boolean };

/**
 * Completes one argument: a list of all values, of which those that fit are suggested, or a function of what was typed so
 * far and of the arguments that are already settled.
 */
export type Completer =
  | readonly string[]
  | ((
      value: string,
      args: Readonly<Record<string, string>>,
      ctx: RequestContext,
    ) => Completions | Promise<Completions>);

/** The completable arguments of one prompt or template; undefined if there are none. */
export type CompletableArguments = ReadonlyMap<string, Completer | undefined>;

/** Where completions come from: prompts by name, resources by URI or template. */
export interface CompletionSource {
  /** True when at least one argument can be completed. */
  readonly completes: boolean;
  /** The arguments of what `name` refers to; undefined when there is no such thing for this caller. */
  completable(name: string, call: ServerCall): CompletableArguments | undefined;
}

/** Serves `completion/complete` for everything that has arguments. */
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
    const found = completer(value, settledArguments(context), call.ctx);
    if (!isThenable(found)) return completed(what, found);
    return Promise.resolve(found).then((settled) => completed(what, settled));
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

/** What the client says is settled; values that are no strings say nothing. */
function settledArguments(context: unknown): Record<string, string> {
  const args = isObject(context) ? context["arguments"] : undefined;
  if (!isObject(args)) return {};
  // fromEntries defines properties: an argument called `__proto__` is data like any other.
  return Object.fromEntries(
    Object.entries(args).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** The values that begin with what was typed, then those that hold it; letters of either case are the same. */
function fitting(values: readonly string[], typed: string): string[] {
  const wanted = typed.toLowerCase();
  const begin: string[] = [];
  const hold: string[] = [];
  for (const value of values) {
    const at = value.toLowerCase().indexOf(wanted);
    if (at === 0) begin.push(value);
    else if (at > 0) hold.push(value);
  }
  return [...begin, ...hold];
}

/** What a completer gave, as the result that clients get. */
export function completed(what: string, found: Completions): CompleteResult {
  const given = Array.isArray(found)
    ? { values: found as readonly string[] }
    : (found as Exclude<Completions, readonly string[]>);
  if (!isObject(given) || !Array.isArray(given.values) || !given.values.every((value) => typeof value === "string")) {
    throw new McpError("misuse", `completing ${what} gave something other than strings`, {
      fix: "Return an array of strings, or an object with `values`.",
    });
  }
  const values = given.values.slice(0, MAX_COMPLETION_VALUES);
  const total = given.total ?? (given.hasMore === true ? undefined : given.values.length);
  const completion: Completion = {
    values,
    ...(total === undefined ? {} : { total }),
    hasMore: given.hasMore === true || (total ?? 0) > values.length,
  };
  return { completion };
}
