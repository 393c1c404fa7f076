import { CopyButton } from "../parts/copy-button.js";
import type { MarkedLine } from "./line-differences.js";

interface MarkedTextProps {
  readonly label: string;
  readonly lines: readonly MarkedLine[];
  /** The sign before marked lines, for readers who cannot rely on colours. */
  readonly sign: "−" | "+";
  /** Notes below lines, by line number from 0. */
  readonly notes?: ReadonlyMap<number, readonly string[]> | undefined;
}

/** Maximum number of displayed lines. The copy button copies all lines. */
const MAX_LINES = 3_000;

/** A JSON text. Marks the lines that the other text of the comparison lacks. */
export function MarkedText({ label, lines, sign, notes }: MarkedTextProps) {
  const kind = sign === "+" ? "model-added" : "model-gone";
  return (
    <div class="parts-code">
      <CopyButton text={lines.map(({ text }) => text).join("\n")} label={label} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
      <section aria-label={label} tabIndex={0}>
        <pre class="model-lines">
          {lines.slice(0, MAX_LINES).map(({ text, differs }, at) => (
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
      {lines.length > MAX_LINES && <p class="soft">{lines.length - MAX_LINES} more lines are not shown.</p>}
    </div>
  );
}
