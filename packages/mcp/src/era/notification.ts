import type { Id } from "../jsonrpc/message.js";
import { META } from "../protocol/meta.js";

/** The JSON text of a notification. */
export function notificationText(method: string, params?: object): string {
  const body = params === undefined ? "" : `,"params":${JSON.stringify(params)}`;
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${body}}`;
}

/**
 * Serialises a notification for many subscriptions once. The returned function completes the text with the id of a
 * subscription.
 */
export function subscriptionNotification(method: string, params: object = {}): (subscription: Id) => string {
  const body = JSON.stringify(params);
  const open = body === "{}" ? "{" : `${body.slice(0, -1)},`;
  const head = `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${open}"_meta":{"${META.subscriptionId}":`;
  return (subscription) => `${head}${JSON.stringify(subscription)}}}}`;
}
