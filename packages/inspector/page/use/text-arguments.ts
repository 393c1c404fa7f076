import { useMemo } from "preact/hooks";
import { act } from "../backend/act.js";
import type { CompleteText } from "../forms/form-context.js";

/** A text argument of a prompt or template. */
export interface TextArgument {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required: boolean;
}

/** Builds the form schema for text arguments. */
export function textSchema(texts: readonly TextArgument[]): Readonly<Record<string, unknown>> {
  return {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(
      texts.map(({ name, title, description }) => [name, { type: "string", title, description }]),
    ),
    required: texts.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** Returns the string members of a form value. */
export function textValues(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** Completes one argument with suggestions from the server, which receives the other arguments too. */
export function useTextCompletion(
  connection: string,
  target: { readonly prompt: string } | { readonly template: string },
  value: unknown,
): CompleteText {
  const key = JSON.stringify([target, textValues(value)]);
  return useMemo(() => {
    const [about, settled] = JSON.parse(key) as [typeof target, Record<string, string>];
    return async (name, typed) => {
      const { [name]: _typed, ...others } = settled;
      const { values } = await act("complete", {
        connection,
        target: about,
        argument: { name, value: typed },
        settled: others,
      });
      return [...new Set(values)];
    };
  }, [connection, key]);
}
