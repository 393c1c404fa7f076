import type { LooseMessage, MessageContent } from "./prompt.js";

/** Messages of the user, one for each piece of content. */
export function user(...content: readonly MessageContent[]): LooseMessage {
  return { role: "user", content };
}

/** Messages of the assistant, one for each piece of content. */
export function assistant(...content: readonly MessageContent[]): LooseMessage {
  return { role: "assistant", content };
}
