import { isObject, type Params } from "../../jsonrpc/message.js";
import type { CheckedResult } from "../../protocol/checks/results.js";
import { McpError, type Operation } from "../../protocol/error.js";
import type { Requester } from "./requester.js";

/**
 * The error of a call, with the call that failed. An error that several calls ended with, such as a lost connection, is copied
 * for each of them.
 */
export function failedIn(thrown: unknown, operation: Operation): McpError {
  const error = McpError.from(thrown);
  const known = error.operation;
  if (known?.method === operation.method && known.target === operation.target) return error;
  if (known === undefined && Object.isExtensible(error)) {
    // Written here only, before the application sees the error.
    (error as { operation: Operation }).operation = operation;
    return error;
  }
  // Read only here, because the stack is put into words when it is read.
  const { kind, message, fix, data, cause, code, remote, stack } = error;
  const copy = new McpError(kind, message, { fix, data, cause, code, remote, operation });
  if (stack !== undefined) copy.stack = stack;
  return copy;
}

/** The operation that a request stands for. */
export function operationOf(method: string, params: Params | undefined): Operation {
  const ref = params?.["ref"];
  const { name, uri } = isObject(ref) ? ref : (params ?? {});
  const target = name ?? uri;
  return typeof target === "string" ? { method, target } : { method };
}

/** The rejection of a call, with the call that failed. */
export function rejected(thrown: unknown, method: string, params: Params | undefined): Promise<never> {
  return Promise.reject(failedIn(thrown, operationOf(method, params)));
}

/** A call that its caller ended. */
export function cancelled(method: string, signal: AbortSignal): McpError {
  return new McpError("cancelled", `${method} was cancelled by its caller`, {
    cause: signal.reason,
    fix: "Nothing to fix if the cancellation was intended.",
  });
}

/**
 * A checked result as the application gets it: flaws that were mended are warnings, one that cannot be mended is an error. A strict
 * client takes no flawed result at all.
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

/** What a call came to, as a value: its result, or the error that it failed with. */
export type Tried<T> = { ok: true; value: T } | { ok: false; error: McpError };

/** The outcome of a call as a value; never rejects. */
export function tried<T>(call: () => Promise<T>): Promise<Tried<T>> {
  return new Promise<T>((resolve) => resolve(call())).then(
    (value) => ({ ok: true, value }),
    (error: unknown) => ({ ok: false, error: McpError.from(error) }),
  );
}
