import { type MaybePromise, whenReady } from "../../encoding/maybe-promise.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { type CompleteResult, type Completion, MAX_COMPLETION_VALUES } from "../../protocol/features/completion.js";
import type { CompletableArguments, Completions } from "../contract/offer-options.js";
import type { SourceCall } from "../contract/source.js";

/** Serves `completion/complete` for an argument of one offer, named as `the prompt "a"`. */
export function completeArgument(
  what: string,
  known: CompletableArguments,
  { request: { params }, ctx }: SourceCall,
): MaybePromise<CompleteResult> {
  const { argument, context } = params;
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
  const completions: MaybePromise<Completions> = completer(value, settledArguments(context), ctx);
  return whenReady(completions, (settled) => completed(what, settled));
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
