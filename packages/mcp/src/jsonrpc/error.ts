/** The codes that JSON-RPC 2.0 itself defines. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** The `data` of the error for a message that is not one, for programs. */
export function faultData(code: number): { reason: "parse_error" | "invalid_params" | "invalid_request" } {
  if (code === PARSE_ERROR) return { reason: "parse_error" };
  return { reason: code === INVALID_PARAMS ? "invalid_params" : "invalid_request" };
}

/** An error as the wire carries it. The peer sent it, or it is about to be sent to the peer. */
export class RpcError extends Error {
  override readonly name: string = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
