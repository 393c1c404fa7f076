import type { Id, NotificationMessage, RequestMessage } from "../../src/jsonrpc/message.js";
import type { Outgoing, Receiver } from "../../src/transport/transport.js";

/** A client side that writes down all it hears, in order. */
export interface RecordingReceiver extends Receiver {
  heard: string[];
  faults: Error[];
  notifications: { message: NotificationMessage; about: Id | undefined }[];
  asked: RequestMessage[];
}

export function recordingReceiver(): RecordingReceiver {
  const heard: string[] = [];
  const faults: Error[] = [];
  const notifications: RecordingReceiver["notifications"] = [];
  const asked: RequestMessage[] = [];
  return {
    heard,
    faults,
    notifications,
    asked,
    async request(message) {
      heard.push(`request ${message.method}`);
      asked.push(message);
      return JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { answered: message.method } });
    },
    notification(message, about) {
      heard.push(`notification ${message.method}`);
      notifications.push({ message, about });
    },
    fault(error) {
      faults.push(error);
    },
    closed() {
      heard.push("closed");
    },
  };
}

/** A request as the eras encode it. */
export function call(id: Id, method = "tools/call", headers?: Record<string, string>): Outgoing & { id: Id } {
  const text = JSON.stringify({ jsonrpc: "2.0", id, method, params: {} });
  return { id, method, text, ...(headers === undefined ? {} : { headers }) };
}

/** A notification as the eras encode it. */
export function notice(method: string): Outgoing {
  return { method, text: JSON.stringify({ jsonrpc: "2.0", method }) };
}

/** The error that a promise rejects with; fails when it fulfils. */
export async function rejection(
  promise: Promise<unknown>,
): Promise<Error & { kind?: string; data?: unknown; code?: unknown }> {
  try {
    await promise;
  } catch (error) {
    return error as Error & { kind?: string };
  }
  throw new Error("the promise was expected to reject");
}
