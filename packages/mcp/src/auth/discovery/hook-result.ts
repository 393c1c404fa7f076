import { printableLine } from "../../encoding/printable.js";
import { McpError } from "../../protocol/error.js";
import { saidBy } from "./steps.js";

/**
 * Calls a function of the application on the way to a token. What it throws becomes `authorization_failed` with the function's name;
 * an `McpError`, and what `isKnown` accepts, is passed on as it is.
 */
export async function hookResult<T>(
  name: string,
  run: () => T | PromiseLike<T>,
  isKnown?: (error: unknown) => boolean,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (McpError.is(error) || isKnown?.(error) === true) throw error;
    const outcome = printableLine(saidBy(error));
    throw new McpError("authorization_failed", `\`${name}\` failed: ${outcome}`, {
      data: { hook: name, steps: [{ step: name, outcome }] },
      fix: "Correct this function of your program, or what it depends on.",
      ...(carriesResponse(error) ? {} : { cause: error }),
    });
  }
}

/** Whether a function of the application caused the error. */
export function isHookFailure({ data }: McpError): boolean {
  return typeof data === "object" && data !== null && "hook" in data;
}

/** Codes of the libraries for OAuth and JWT: their errors hold the responses that they read, with tokens and secrets in them. */
const LIBRARY_CODE = /^(?:OAUTH_|ERR_J(?:OSE|W))/;

function carriesResponse(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if ("code" in current && LIBRARY_CODE.test(String(current.code))) return true;
    current = current.cause;
  }
  return false;
}
