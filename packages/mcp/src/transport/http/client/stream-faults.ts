import { McpError } from "../../../protocol/error.js";
import type { Receiver } from "../../transport.js";

/** Events in a row that are not messages, after which a stream is cut off. */
const MAX_IN_A_ROW = 100;

/** Reports what a stream carries that is not a message, and says when it is enough. */
export class StreamFaults {
  readonly #receiver: Receiver;
  /** One error per cause, so that a flood of bad events does not cost a stack trace each. */
  readonly #known = new Map<string, McpError>();
  #inARow = 0;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  /** A message arrived. */
  sound(): void {
    this.#inARow = 0;
  }

  /** Reports the fault that `make` describes. Returns the error to end the stream with if it carries nothing else. */
  report(cause: string, make: () => McpError): McpError | undefined {
    this.#inARow++;
    if (this.#inARow > MAX_IN_A_ROW) return this.#error("too many", tooMany);
    this.#receiver.fault(this.#error(cause, make));
    return undefined;
  }

  #error(cause: string, make: () => McpError): McpError {
    const error = this.#known.get(cause) ?? make();
    this.#known.set(cause, error);
    return error;
  }
}

function tooMany(): McpError {
  return new McpError(
    "limit_exceeded",
    `the server sent more than ${MAX_IN_A_ROW} events in a row that are not messages`,
    {
      fix: "Check that the address is that of an MCP server; if it is, report this to its author.",
    },
  );
}
