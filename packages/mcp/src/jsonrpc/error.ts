/** The error codes of JSON-RPC 2.0. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** Returns the machine-readable `data` of the error response to input that is not a valid message. */
export function faultData(code: number): { reason: "parse_error" | "invalid_params" | "invalid_request" } {
  if (code === PARSE_ERROR) return { reason: "parse_error" };
  return { reason: code === INVALID_PARAMS ? "invalid_params" : "invalid_request" };
}

/** A JSON-RPC error, received from the peer or about to be sent to it. */
export class RpcError extends Error {
  override readonly name: string = "RpcError";
  /** The error code. */
  readonly code: number;
  /** The `data` member of the error; undefined if it has none. */
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
