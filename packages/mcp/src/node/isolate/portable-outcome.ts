import { isPlainJson, lostInJson } from "../../encoding/plain-json.js";
import { readable, thrownMessage } from "../../encoding/thrown-message.js";
import { type ErrorKind, McpError } from "../../protocol/error.js";
import { isBlock, isToolResult, markBlock, markResult } from "../../protocol/features/block.js";
import type { ContentBlock } from "../../protocol/features/content.js";
import { InputRequired, isInputRequired } from "../../server/call/input-required.js";
import { ToolError } from "../../server/contract/tool.js";

/** An error in a form that can be sent between threads and processes. */
export type PortableError =
  | { readonly type: "tool"; readonly message: string; readonly content: readonly ContentBlock[] | undefined }
  | {
      readonly type: "mcp";
      readonly kind: ErrorKind;
      readonly message: string;
      readonly code: number;
      readonly data: unknown;
      readonly fix: string;
      readonly remote: boolean;
    }
  /** The call continues in another round, with the answers to its questions. */
  | { readonly type: "interrupted" }
  | {
      readonly type: "error";
      readonly name: string;
      readonly message: string;
      readonly stack: string | undefined;
      readonly code: unknown;
    }
  | { readonly type: "thrown"; readonly value: unknown };

/** A value or an error. The `type` of a value states whether a content builder created the value. */
export type PortableOutcome =
  | { readonly type: "value" | "block" | "blocks" | "result"; readonly value: unknown }
  | { readonly type: "failure"; readonly error: PortableError };

/** Runs `work` and returns its outcome. An exception, or a value that cannot be sent, becomes a failure. */
export async function outcomeOf(work: () => unknown): Promise<PortableOutcome> {
  try {
    return portableValue(await work());
  } catch (error) {
    return portableFailure(error);
  }
}

export function portableFailure(error: unknown): PortableOutcome {
  return { type: "failure", error: portableError(error) };
}

function portableValue(value: unknown): PortableOutcome {
  // Copies lose their prototype, and with it the mark of a content builder. The type of the outcome replaces the mark.
  if (isToolResult(value)) return { type: "result", value: portable({ ...value }) };
  if (isBlock(value)) return { type: "block", value: portable({ ...value }) };
  if (Array.isArray(value) && value.length > 0 && value.every(isBlock)) {
    return { type: "blocks", value: portable(value.map((block) => ({ ...block }))) };
  }
  return { type: "value", value: portable(value) };
}

/**
 * Copies a value for sending. A value that JSON represents fully is sent as JSON, so that `toJSON` applies as for other
 * tools. Other values are cloned: the check of the result then names the part that JSON cannot represent.
 */
function portable(value: unknown): unknown {
  if (value === undefined || isPlainJson(value)) return value;
  try {
    return lostInJson(value) === undefined ? JSON.parse(JSON.stringify(value)) : structuredClone(value);
  } catch (error) {
    throw new McpError(
      "misuse",
      `the result of an isolated tool cannot be sent to the serving thread: ${thrownMessage(error)}`,
      {
        fix: "Return plain data without functions, sockets, streams or promises.",
      },
    );
  }
}

export function portableError(thrown: unknown): PortableError {
  const error = readable(thrown);
  if (isInputRequired(error)) return { type: "interrupted" };
  if (ToolError.is(error)) return { type: "tool", message: error.message, content: cloned(error.content) };
  if (McpError.is(error)) {
    const { kind, message, code, data, fix, remote } = error;
    return { type: "mcp", kind, message, code, data: cloned(data), fix, remote };
  }
  if (!(error instanceof Error)) return { type: "thrown", value: cloned(error) ?? thrownMessage(error) };
  const { name, stack } = error;
  const { code } = error as { code?: unknown };
  return {
    type: "error",
    name: String(name),
    message: thrownMessage(error),
    stack: typeof stack === "string" ? stack : undefined,
    code: typeof code === "string" || typeof code === "number" ? code : undefined,
  };
}

/**
 * Returns a copy, or undefined if the value cannot be cloned. The value is a detail of an error, and the error must be
 * sent even without this detail.
 */
function cloned<T>(value: T): T | undefined {
  try {
    return structuredClone(value);
  } catch {
    return undefined;
  }
}

/** Returns the value of an outcome, or throws its error. */
export function unwrapped(outcome: PortableOutcome): unknown {
  switch (outcome.type) {
    case "failure":
      throw revivedError(outcome.error);
    case "block":
      // Safe, as below: the sender read these members from a builder's value.
      return markBlock(outcome.value as ContentBlock);
    case "blocks":
      return (outcome.value as ContentBlock[]).map(markBlock);
    case "result":
      return markResult(outcome.value as object);
    default:
      return outcome.value;
  }
}

/** Recreates an error of the same kind. */
export function revivedError(error: PortableError): unknown {
  switch (error.type) {
    case "tool":
      return new ToolError(error.message, { content: error.content });
    case "mcp": {
      const { kind, message, code, data, fix, remote } = error;
      return new McpError(kind, message, { code, data, fix, remote });
    }
    case "interrupted":
      return new InputRequired();
    case "error": {
      const { name, message, stack, code } = error;
      const revived = Object.assign(new Error(message), { name }, code === undefined ? {} : { code });
      if (stack !== undefined) Object.defineProperty(revived, "stack", { value: stack });
      return revived;
    }
    default:
      return error.value;
  }
}
