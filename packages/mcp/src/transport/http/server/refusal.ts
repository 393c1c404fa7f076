import { INTERNAL_ERROR } from "../../../jsonrpc/error.js";
import type { Id } from "../../../jsonrpc/message.js";
import { errorText } from "../../../jsonrpc/message-text.js";
import type { Platform } from "../../../platform/platform.js";
import type { Answer } from "../../transport.js";
import type { HeaderList } from "./incoming.js";

/** A reply that ends a request before any handler runs. */
export interface Refusal {
  readonly status: number;
  readonly headers: HeaderList;
  readonly text: string;
}

export interface RefusalOptions {
  id?: Id | undefined;
  headers?: HeaderList;
  data?: unknown;
}

const JSON_HEADERS: HeaderList = ["content-type", "application/json"];

/** Builds a refusal with a JSON-RPC body. `code` is one of JSON-RPC's own: the range below -32000 means nothing. */
export function refusal(status: number, code: number, message: string, options: RefusalOptions = {}): Refusal {
  const headers = options.headers === undefined ? JSON_HEADERS : [...JSON_HEADERS, ...options.headers];
  return { status, headers, text: errorText(options.id, code, message, options.data) };
}

/** The answer to a request whose endpoint broke its promise never to fail. The cause goes to the operator only. */
export function failedAnswer(platform: Platform, id: Id, error: unknown): Answer {
  platform.warn(`a request failed inside the server: ${String(error)}`);
  return { text: errorText(id, INTERNAL_ERROR, "the request failed inside the server") };
}
