import { printable } from "@parley/mcp/protocol";
import { CopyButton } from "./copy-button.js";

/** Maximum number of displayed characters. The copy button copies the whole text. */
const MAX_SHOWN = 200_000;

interface CodeTextProps {
  readonly text: string;
  /** The accessible name of the text. */
  readonly label: string;
}

/** Code or protocol text with a copy button. */
export function CodeText({ text, label }: CodeTextProps) {
  return (
    <div class="parts-code">
      <CopyButton text={text} label={label} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
      <section aria-label={label} tabIndex={0}>
        <pre>{printable(text.slice(0, MAX_SHOWN))}</pre>
      </section>
      {text.length > MAX_SHOWN && (
        <p class="soft">
          {text.length - MAX_SHOWN} more characters are not shown. Copy includes all {text.length}.
        </p>
      )}
    </div>
  );
}
