import { isObject, type Params } from "../../jsonrpc/message.js";
import type { CheckedResult } from "../../protocol/checks/results.js";
import { McpError, type Operation } from "../../protocol/error.js";
import type { Requester } from "./requester.js";

/** Adds the failed call to an error. Copies an error that several calls share, such as a lost connection. */
export function failedIn(thrown: unknown, operation: Operation): McpError {
  const error = McpError.from(thrown);
  const known = error.operation;
  if (known?.method === operation.method && known.target === operation.target) return error;
  if (known === undefined && Object.isExtensible(error)) {
    // Safe: the readonly member is written only here, before the application sees the error.
    (error as { operation: Operation }).operation = operation;
    return error;
  }
  // Access `stack` only on this path, because the first access makes the engine format it, which is slow.
  const { kind, message, fix, data, cause, code, remote, stack } = error;
  const copy = new McpError(kind, message, { fix, data, cause, code, remote, operation });
  if (stack !== undefined) copy.stack = stack;
  return copy;
}

/** The operation of a request, for errors. */
export function operationOf(method: string, params: Params | undefined): Operation {
  const ref = params?.["ref"];
  const { name, uri } = isObject(ref) ? ref : (params ?? {});
  const target = name ?? uri;
  return typeof target === "string" ? { method, target } : { method };
}

/** Rejects with an error that names the failed call. */
export function rejected(thrown: unknown, method: string, params: Params | undefined): Promise<never> {
  return Promise.reject(failedIn(thrown, operationOf(method, params)));
}

/** The error for a call that its caller cancelled. */
export function cancelled(method: string, signal: AbortSignal): McpError {
  return new McpError("cancelled", `${method} was cancelled by its caller`, {
    cause: signal.reason,
    fix: "Nothing to fix if the cancellation was intended.",
  });
}

/**
 * Returns a checked result to the application. Warns about repaired flaws and throws for others. A strict client
 * rejects any flaw.
 */
export function readResult<R>(
  { result, problems }: CheckedResult<R>,
  what: string,
  requester: Requester,
  operation: Operation,
): R {
  if (problems.length === 0 && result !== undefined) return result;
  const { strict } = requester;
  if (result === undefined || strict) {
    throw new McpError("invalid_response", `${what} is malformed: ${problems.join("; ")}`, {
      data: { problems },
      operation,
      fix: strict
        ? "Leave out `strict` to accept the result without the flawed part."
        : "Report it to the author of the server.",
    });
  }
  for (const problem of problems) requester.warn(`${what}: ${problem}`);
  return result;
}

/** The outcome of a call as a value: its result or its error. */
export type Tried<T> =
  | {
      /** True if the call succeeded. */
      ok: true;
      /** The result of the call. */
      value: T;
    }
  | {
      /** False if the call failed. */
      ok: false;
      /** The error of the call. */
      error: McpError;
    };

/** Returns the outcome of a call as a value. Never rejects. */
export function tried<T>(call: () => Promise<T>): Promise<Tried<T>> {
  return new Promise<T>((resolve) => resolve(call())).then(
    (value) => ({ ok: true, value }),
    (error: unknown) => ({ ok: false, error: McpError.from(error) }),
  );
}
