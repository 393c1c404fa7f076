import { printable } from "@parley/mcp/protocol";
import { CopyButton } from "./copy-button.js";

/** Characters that are put into the document; the button copies all. */
const MOST_SHOWN = 200_000;

interface CodeTextProps {
  readonly text: string;
  /** The accessible name of the text. */
  readonly label: string;
}

/** A text of code or protocol, as it is, with a button that copies it. */
export function CodeText({ text, label }: CodeTextProps) {
  return (
    <div class="parts-code">
      <CopyButton text={text} label={label} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section aria-label={label} tabIndex={0}>
        <pre>{printable(text.slice(0, MOST_SHOWN))}</pre>
      </section>
      {text.length > MOST_SHOWN && (
        <p class="soft">
          {text.length - MOST_SHOWN} more characters are not shown. Copy has all {text.length}.
        </p>
      )}
    </div>
  );
}
