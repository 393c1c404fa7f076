import type { LooseMessage, MessageContent } from "./prompt.js";

/** Messages with the role of the user, one per argument. */
export function user(...content: readonly MessageContent[]): LooseMessage {
  return { role: "user", content };
}

/** Messages with the role of the assistant, one per argument. */
export function assistant(...content: readonly MessageContent[]): LooseMessage {
  return { role: "assistant", content };
}
