const BRAND = Symbol.for("@parley/mcp/input-required");

/** Interrupts a handler whose question has no answer yet. The handler runs again with the answer. */
export class InputRequired extends Error {
  override readonly name = "InputRequired";

  constructor() {
    super("the answer to this question arrives with the client's next request");
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/**
 * True for the error that interrupts a handler. A `catch` around a question must rethrow it.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/questions.md | Questions: elicitation, sampling, roots}
 */
export function isInputRequired(error: unknown): boolean {
  return typeof error === "object" && error !== null && (error as Record<symbol, unknown>)[BRAND] === true;
}
