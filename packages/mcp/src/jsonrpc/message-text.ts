import type { Id } from "./message.js";

/** The text of a request; `params` is JSON text already. */
export function requestText(id: Id, method: string, params: string | undefined): string {
  const body = params === undefined ? "" : `,"params":${params}`;
  return `{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)}${body}}`;
}

/** Numbers are the common case and need no escaping. */
export function idText(id: Id): string | number {
  return typeof id === "number" ? id : JSON.stringify(id);
}

/** The text of an error answer. Without an id when the request's could not be read. */
export function errorText(id: Id | undefined, code: number, message: string, data?: unknown): string {
  const error = data === undefined ? { code, message } : { code, message, data };
  const idPart = id === undefined ? "" : `"id":${JSON.stringify(id)},`;
  return `{"jsonrpc":"2.0",${idPart}"error":${JSON.stringify(error)}}`;
}

/** The text of a result answer; `result` is JSON text already. */
export function resultText(id: Id, result: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`;
}
