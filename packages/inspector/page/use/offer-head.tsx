import type { Finding } from "@parley/mcp/lint";
import { printable } from "@parley/mcp/protocol";
import type { OfferDetail, OfferSummary } from "../../src/contract/offers.js";
import { CodeText } from "../parts/code-text.js";
import { textIn } from "../results/content-view.js";

/**
 * Maximum number of displayed characters of a description. The rest is cut off, because servers can send any length.
 */
const MAX_DESCRIPTION_LENGTH = 20_000;

/** Maximum number of displayed characters of a title. The definition below shows the whole title. */
const MAX_TITLE_LENGTH = 200;

/**
 * Maximum number of findings for which the list is expanded at first. A longer list would push the form out of sight.
 */
const FINDINGS_OPEN = 2;

interface OfferHeadProps {
  readonly name: string;
  readonly summary?: OfferSummary | undefined;
  readonly offer: OfferDetail;
}

/** The title, description and lint findings of a tool, resource, prompt or skill. */
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
        <p class="use-description">{printable(description.slice(0, MAX_DESCRIPTION_LENGTH))}</p>
      )}
      {findings.length > 0 && (
        <details open={findings.length <= FINDINGS_OPEN}>
          <summary>{countOf(findings)}</summary>
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

const shortened = (title: string) =>
  title.length <= MAX_TITLE_LENGTH ? title : `${title.slice(0, MAX_TITLE_LENGTH)}…`;

/** The badges of an offer, such as `destructive`. */
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

const SEVERITIES = ["error", "warning", "note"] as const;

/** Counts the findings by severity, the most severe first. */
function countOf(findings: readonly Finding[]): string {
  const counts = SEVERITIES.flatMap((severity) => {
    const { length } = findings.filter((finding) => finding.severity === severity);
    return length === 0 ? [] : [length === 1 ? `1 lint ${severity}` : `${length} lint ${severity}s`];
  });
  return counts.join(", ");
}

function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <ul class="use-findings" aria-label="Lint findings">
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
