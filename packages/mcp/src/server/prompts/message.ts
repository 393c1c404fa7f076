import { McpError } from "../../protocol/error.js";
import type { Role, TextContent } from "../../protocol/features/content.js";
import type { LooseMessage, MessageContent } from "../contract/prompt.js";

/** Creates messages of the user, one per argument. */
export function user(...content: readonly MessageContent[]): LooseMessage {
  return { role: "user", content };
}

/** Creates messages of the assistant, one per argument. */
export function assistant(...content: readonly MessageContent[]): LooseMessage {
  return { role: "assistant", content };
}

/** A message in the format of model providers. It may have the role `system`, and plain text as its content. */
interface ProviderMessage<B> {
  readonly role: Role | "system";
  readonly content: string | TextContent | B | readonly (TextContent | B)[];
}

type MessageBlocks<B> = TextContent | B | (TextContent | B)[];

/**
 * Converts messages in the format of model providers, for a prompt or for `ctx.sample`. The protocol does not have the
 * role `system`, so the texts of that role are joined into one message of the user, in front of all others. Throws
 * `misuse` for `system` messages with other content.
 */
export function foldSystem<B extends { type: string } = TextContent>(
  messages: readonly ProviderMessage<B>[],
): { role: Role; content: MessageBlocks<B> }[] {
  const system: string[] = [];
  const others: { role: Role; content: MessageBlocks<B> }[] = [];
  for (const { role, content } of messages) {
    if (role === "system") system.push(...textsOf(content));
    else others.push({ role, content: blocksOf(content) });
  }
  if (system.length === 0) return others;
  return [{ role: "user", content: { type: "text", text: system.join("\n\n") } }, ...others];
}

function blocksOf<B>(content: ProviderMessage<B>["content"]): MessageBlocks<B> {
  if (typeof content === "string") return { type: "text", text: content };
  // `isArray` does not narrow read-only arrays.
  return Array.isArray(content) ? [...(content as readonly B[])] : (content as B);
}

function textsOf(content: ProviderMessage<{ type: string }>["content"]): string[] {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.map((block) => {
    if (typeof block === "string") return block;
    const { type, text } = block as Partial<TextContent>;
    if (type === "text" && typeof text === "string") return text;
    throw new McpError("misuse", "a message of the role `system` has content other than text", {
      fix: "Move it into a message of the user.",
    });
  });
}
