import type { Finding } from "@parley/mcp/lint";
import { printable } from "@parley/mcp/protocol";
import type { OfferDetail, OfferSummary } from "../../src/contract/offers.js";
import { CodeText } from "../parts/code-text.js";
import { textIn } from "../results/content-view.js";

/** Characters of a description; servers may send any number. */
const LONGEST_DESCRIPTION = 20_000;

/** Characters of a title; the definition has all. */
const LONGEST_TITLE = 200;

/** Findings that are shown at once; more of them would push the form out of sight. */
const FINDINGS_OPEN = 2;

interface OfferHeadProps {
  readonly name: string;
  readonly summary?: OfferSummary | undefined;
  readonly offer: OfferDetail;
}

/** What a tool, resource, prompt or skill is, in its server's words, and what lint says of it. */
export function OfferHead({ name, summary, offer }: OfferHeadProps) {
  const { definition, findings } = offer;
  const title = textIn(definition, "title") ?? summary?.title;
  const description = textIn(definition, "description") ?? summary?.description;
  return (
    <header class="use-head">
      <h2>{shortened(printable(title ?? name))}</h2>
      {title !== undefined && title !== name && <code class="use-name">{printable(name)}</code>}
      <Marks marks={summary?.marks ?? []} />
      {description !== undefined && (
        <p class="use-description">{printable(description.slice(0, LONGEST_DESCRIPTION))}</p>
      )}
      {findings.length > 0 && (
        <details open={findings.length <= FINDINGS_OPEN}>
          <summary>{countOf(findings)} of lint</summary>
          <Findings findings={findings} />
        </details>
      )}
      <details>
        <summary>Definition as JSON</summary>
        <CodeText text={JSON.stringify(definition, null, 2)} label={`Definition of ${printable(name)}`} />
      </details>
    </header>
  );
}

const shortened = (title: string) => (title.length <= LONGEST_TITLE ? title : `${title.slice(0, LONGEST_TITLE)}…`);

/** What something is besides. */
export function Marks({ marks }: { readonly marks: readonly string[] }) {
  return (
    <span class="use-marks">
      {marks.map((mark) => (
        <span key={mark} class={mark === "destructive" ? "use-mark use-mark-warn" : "use-mark"}>
          {printable(mark)}
        </span>
      ))}
    </span>
  );
}

/** Findings and notes apart, because lists of tools count the findings alone. */
function countOf(findings: readonly Finding[]): string {
  const notes = findings.filter(({ severity }) => severity === "note").length;
  const counted = (count: number, word: string) =>
    count === 0 ? [] : [count === 1 ? `1 ${word}` : `${count} ${word}s`];
  return [...counted(findings.length - notes, "finding"), ...counted(notes, "note")].join(" and ");
}

function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <ul class="use-findings" aria-label="What lint says">
      {findings.map(({ rule, severity, path, message, fix }) => (
        <li key={`${rule} ${path ?? ""} ${message}`} class={`use-finding use-finding-${severity}`}>
          <p>
            <strong>{severity}</strong> <code>{rule}</code> {path !== undefined && <code>{printable(path)}</code>}{" "}
            {printable(message)}
          </p>
          <p class="soft">{printable(fix)}</p>
        </li>
      ))}
    </ul>
  );
}
