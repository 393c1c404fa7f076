import { printable } from "@parley/mcp/protocol";
import { ContentView, textIn } from "./content-view.js";

interface MessageViewProps {
  readonly message: Readonly<Record<string, unknown>>;
  readonly onRead?: ((uri: string) => void) | undefined;
}

/** A message of a prompt or of a sampling request: its role and its content. */
export function MessageView({ message, onRead }: MessageViewProps) {
  const { content } = message;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return (
    <article class="results-message">
      <p class="results-role">{printable(textIn(message, "role") ?? "no role")}</p>
      {blocks.map((block, index) => (
        <ContentView key={index} block={block} onRead={onRead} />
      ))}
    </article>
  );
}
