import { McpError } from "@parley/mcp";
import { expect } from "vitest";

/** What programs without types can write, which the compiler would refuse in a test. */
export const loosely = (value: unknown) => value as never;

/** What a user is told of a mistake: the whole message, and what to change. */
export interface Told {
  readonly kind: string;
  readonly message: string | RegExp;
  readonly fix: string | RegExp;
}

/** The error that a mistake ends in, thrown or rejected with; fails when the mistake passes in silence. */
export async function errorOf(mistake: () => unknown): Promise<McpError> {
  const outcome = await new Promise((resolve) => resolve(mistake())).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in outcome && McpError.is(outcome.error)) return outcome.error;
  throw new Error(`the mistake was not told: ${JSON.stringify(outcome) ?? String(outcome)}`, { cause: outcome });
}

/** Asserts the whole text of what a mistake ends in. */
export async function expectTold(mistake: () => unknown, { kind, message, fix }: Told): Promise<void> {
  const error = await errorOf(mistake);
  const text = (expected: string | RegExp) =>
    typeof expected === "string" ? expected : expect.stringMatching(expected);
  expect({ kind: error.kind, message: error.message, fix: error.fix }).toEqual({
    kind,
    message: text(message),
    fix: text(fix),
  });
}
