import { McpError } from "../../protocol/error.js";
import type { Role, TextContent } from "../../protocol/features/content.js";
import type { LooseMessage, MessageContent } from "../contract/prompt.js";

/** Messages with the role of the user, one per argument. */
export function user(...content: readonly MessageContent[]): LooseMessage {
  return { role: "user", content };
}

/** Messages with the role of the assistant, one per argument. */
export function assistant(...content: readonly MessageContent[]): LooseMessage {
  return { role: "assistant", content };
}

/** A message in the form of model providers: it may have the role `system`, and a text for its content. */
interface ProviderMessage<B> {
  readonly role: Role | "system";
  readonly content: string | TextContent | B | readonly (TextContent | B)[];
}

type Folded<B> = TextContent | B | (TextContent | B)[];

/**
 * Converts messages that may have the role `system`, which the protocol does not have, for a prompt or for `ctx.sample`: texts of
 * that role become one message of the user before all others. Throws `misuse` for other content of that role.
 */
export function foldSystem<B extends { type: string } = TextContent>(
  messages: readonly ProviderMessage<B>[],
): { role: Role; content: Folded<B> }[] {
  const system: string[] = [];
  const others: { role: Role; content: Folded<B> }[] = [];
  for (const { role, content } of messages) {
    if (role === "system") system.push(...textsOf(content));
    else others.push({ role, content: blocksOf(content) });
  }
  if (system.length === 0) return others;
  return [{ role: "user", content: { type: "text", text: system.join("\n\n") } }, ...others];
}

function blocksOf<B>(content: ProviderMessage<B>["content"]): Folded<B> {
  if (typeof content === "string") return { type: "text", text: content };
  // `isArray` does not narrow a list that is read-only.
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
