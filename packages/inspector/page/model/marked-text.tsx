import { CopyButton } from "../parts/copy-button.js";
import type { MarkedLine } from "./line-differences.js";

interface MarkedTextProps {
  readonly label: string;
  readonly lines: readonly MarkedLine[];
  /** The sign before marked lines, for those who do not see colours. */
  readonly sign: "−" | "+";
  /** What is said below lines, by their numbers from 0. */
  readonly notes?: ReadonlyMap<number, readonly string[]> | undefined;
}

/** Lines that are put into the document; the button copies all. */
const MOST_SHOWN = 3_000;

/** A text of JSON with the lines marked that its counterpart does not have. */
export function MarkedText({ label, lines, sign, notes }: MarkedTextProps) {
  const kind = sign === "+" ? "model-added" : "model-gone";
  return (
    <div class="parts-code">
      <CopyButton text={lines.map(({ text }) => text).join("\n")} label={label} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section aria-label={label} tabIndex={0}>
        <pre class="model-lines">
          {lines.slice(0, MOST_SHOWN).map(({ text, differs }, at) => (
            <span key={at} class={differs ? kind : undefined}>
              {`${differs ? sign : " "} ${text}\n`}
              {notes?.get(at)?.map((note) => (
                <span key={note} class="model-note">
                  ⚠ {note}
                </span>
              ))}
            </span>
          ))}
        </pre>
      </section>
      {lines.length > MOST_SHOWN && <p class="soft">{lines.length - MOST_SHOWN} more lines are not shown.</p>}
    </div>
  );
}
