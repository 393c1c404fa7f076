import { type MaybePromise, whenReady } from "../../encoding/maybe-promise.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import { type CompleteResult, type Completion, MAX_COMPLETION_VALUES } from "../../protocol/features/completion.js";
import type { CompletableArguments, Completions } from "../contract/offer-options.js";
import type { SourceCall } from "../contract/source.js";

/**
 * Serves `completion/complete` for an argument of one offer. `what` names the offer in errors, for example `the prompt
 * "a"`.
 */
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
      fix: known.size === 0 ? "Leave the argument out." : `Use one of ${[...known.keys()].join(", ")}.`,
    });
  }
  const completer = known.get(name);
  if (completer === undefined) return toCompleteResult(what, []);
  if (typeof completer !== "function") return toCompleteResult(what, matchingValues(completer, value));
  const completions: MaybePromise<Completions> = completer(value, settledArguments(context), ctx);
  return whenReady(completions, (settled) => toCompleteResult(what, settled));
}

/** Returns the arguments that are already filled in. Ignores values that are not strings. */
function settledArguments(context: unknown): Record<string, string> {
  const args = isObject(context) ? context["arguments"] : undefined;
  if (!isObject(args)) return {};
  // `fromEntries` defines properties, so an argument called `__proto__` is ordinary data.
  return Object.fromEntries(
    Object.entries(args).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** Returns the values that start with the typed text, then those that contain it. Ignores case. */
function matchingValues(values: readonly string[], typed: string): string[] {
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

/** Converts the return value of a completer to the result that clients get. */
export function toCompleteResult(what: string, completions: Completions): CompleteResult {
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
