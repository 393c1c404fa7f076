import type { Id } from "../jsonrpc/message.js";

/** The text of a request; `params` is JSON text already. */
export function requestText(id: Id, method: string, params: string | undefined): string {
  const body = params === undefined ? "" : `,"params":${params}`;
  return `{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)}${body}}`;
}

/** Numbers are the common case and need no escaping. */
export function idText(id: Id): string | number {
  return typeof id === "number" ? id : JSON.stringify(id);
}
