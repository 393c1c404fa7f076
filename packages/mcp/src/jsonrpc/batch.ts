import { faultData, INVALID_REQUEST } from "./error.js";
import {
  type ClassifiedMessage,
  classify,
  type ErrorMessage,
  errorText,
  type NotificationMessage,
  type RequestMessage,
  type ResultMessage,
} from "./message.js";

/** An item of a batch. An item that is not a message is replaced by the error response to it. */
export type BatchItem = Exclude<ClassifiedMessage, { kind: "batch" | "invalid" }> | { kind: "refused"; text: string };

/**
 * Classifies the items of a batch, in order. Malformed notifications and responses are left out, because they get no
 * response.
 */
export function readBatch(items: readonly unknown[]): BatchItem[] {
  return items.flatMap((item): BatchItem[] => {
    const one = classify(item);
    if (one.kind === "batch") {
      return [{ kind: "refused", text: errorText(undefined, INVALID_REQUEST, "a batch must not contain a batch") }];
    }
    if (one.kind !== "invalid") return [one];
    return one.silent === true
      ? []
      : [{ kind: "refused", text: errorText(one.id, one.code, one.reason, faultData(one.code)) }];
  });
}

/** The items of a batch, by kind. */
export interface SortedBatch {
  readonly requests: RequestMessage[];
  readonly notifications: NotificationMessage[];
  readonly answers: (ResultMessage | ErrorMessage)[];
  /** The error responses to items that are not messages. */
  readonly refused: string[];
}

/** Sorts the items of a batch by kind. */
export function sortBatch(items: readonly unknown[]): SortedBatch {
  const sorted: SortedBatch = { requests: [], notifications: [], answers: [], refused: [] };
  for (const item of readBatch(items)) {
    if (item.kind === "request") sorted.requests.push(item.message);
    else if (item.kind === "notification") sorted.notifications.push(item.message);
    else if (item.kind === "refused") sorted.refused.push(item.text);
    else sorted.answers.push(item.message);
  }
  return sorted;
}
