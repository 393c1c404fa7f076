import { printable } from "@parley/mcp/protocol";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { CallOutcome } from "../../src/contract/calls.js";
import { sameJson } from "../forms/model/json-members.js";
import { formatBytes } from "../parts/format-bytes.js";
import { formatMs } from "../parts/format-ms.js";
import { JsonTree } from "../parts/json-tree.js";
import { OutsideLink } from "../parts/outside-link.js";
import { ProblemNote } from "../parts/problem-note.js";
import { saveBytes } from "../parts/save-file.js";
import { TabPanel, Tabs } from "../parts/tabs.js";
import { ContentView, membersIn, ResourceContentsView, textIn } from "./content-view.js";
import { fileNameOf } from "./media-data.js";
import { MessageView } from "./message-view.js";
import { StructuredView } from "./structured-view.js";
import { PlainText, TextView } from "./text-view.js";

interface ResultViewProps {
  readonly outcome: CallOutcome;
  /** Reads a resource linked in the result. */
  readonly onRead?: ((uri: string) => void) | undefined;
  /** Further details of the call, below its status. */
  readonly children?: ComponentChildren;
}

const SIDES = [
  { id: "shown", title: "Result" },
  { id: "json", title: "JSON" },
] as const;

type Side = (typeof SIDES)[number]["id"];

/** The outcome of a call: its problem, or its result by type and as JSON. */
export function ResultView({ outcome, onRead, children }: ResultViewProps) {
  const [side, setSide] = useState<Side>("shown");
  const { call, result, problem, bytes } = outcome;
  const isError = result?.["isError"] === true;
  const text = () => JSON.stringify(result, null, 2) ?? "";
  return (
    <section class="results" aria-label="Result of the call">
      <p class={`results-status results-${isError ? "failed" : call.status}`}>
        <strong>{isError ? "The tool reported an error" : STATUS[call.status]}</strong>
        <span class="soft">
          {call.durationMs !== undefined && ` ${formatMs(call.durationMs)}`}
          {result !== undefined && ` · ${formatBytes(bytes)}`}
        </span>
        {result !== undefined && (
          <button type="button" class="quiet" onClick={() => saveBytes(`${fileNameOf(call.name)}.json`, text())}>
            Save
          </button>
        )}
      </p>
      {children}
      {problem !== undefined && <ProblemNote problem={problem} />}
      {problem?.kind === "url_elicitation_required" && <RequiredPages data={problem.data} />}
      {result !== undefined && (
        <>
          <Tabs label="Result or JSON" idPrefix={call.id} tabs={SIDES} chosen={side} onChoose={setSide} />
          <TabPanel label={call.id} chosen={side}>
            {side === "shown" ? (
              <ResultBody result={result} onRead={onRead} />
            ) : (
              <PlainText text={text()} fileName="result.json" />
            )}
          </TabPanel>
        </>
      )}
    </section>
  );
}

const STATUS = { running: "Running", done: "Done", failed: "Failed", cancelled: "Cancelled" } as const;

/** Maximum number of displayed pages of one error. Further pages are omitted. */
const MAX_PAGES = 20;

/** The pages that the user must visit before the call can succeed. */
function RequiredPages({ data }: { readonly data: unknown }) {
  const { elicitations } = membersIn(data);
  const pages = (Array.isArray(elicitations) ? elicitations : []).slice(0, MAX_PAGES).map(membersIn);
  return (
    <ul class="results-pages" aria-label="Pages to visit first">
      {pages.map((page, index) => (
        <li key={index}>
          {printable(textIn(page, "message") ?? "Visit")}:{" "}
          <OutsideLink href={textIn(page, "url") ?? ""}>{printable(textIn(page, "url") ?? "no URL")}</OutsideLink>
        </li>
      ))}
    </ul>
  );
}

/** Number of blocks, messages or files displayed at first, and added by each "Show more". */
const SHOWN = 100;

interface ResultBodyProps {
  readonly result: Readonly<Record<string, unknown>>;
  readonly onRead: ResultViewProps["onRead"];
}

/** The contents of a result of any method. */
function ResultBody({ result, onRead }: ResultBodyProps) {
  const [shown, setShown] = useState(SHOWN);
  const listOf = (name: string): readonly unknown[] => (Array.isArray(result[name]) ? result[name] : []);
  const description = textIn(result, "description");
  const body = textIn(result, "body");
  const skill = textIn(membersIn(result["skill"]), "uri");
  // Skips the file that contains the body of a skill, because the body is already shown.
  const isFurther = (contents: unknown) => body === undefined || textIn(membersIn(contents), "uri") !== skill;
  const parts = [
    ...listOf("content").map((block) => ({ kind: "content" as const, value: block })),
    ...listOf("messages").map((message) => ({ kind: "message" as const, value: message })),
    ...listOf("contents")
      .filter(isFurther)
      .map((contents) => ({ kind: "contents" as const, value: contents })),
  ];
  const structured = result["structuredContent"];
  const isKnown = parts.length > 0 || structured !== undefined || body !== undefined;
  return (
    <div class="results-parts">
      {description !== undefined && <p>{printable(description)}</p>}
      {body !== undefined && <TextView text={body} mimeType="text/markdown" fileName="SKILL.md" />}
      {structured !== undefined && <StructuredView value={structured} />}
      {parts.slice(0, shown).map(({ kind, value }, index) => (
        <div key={index} class="results-part">
          {kind === "content" && isRepeated(value, structured) ? (
            <details>
              <summary>Same content as text</summary>
              <ContentView block={value} onRead={onRead} />
            </details>
          ) : kind === "content" ? (
            <ContentView block={value} onRead={onRead} />
          ) : kind === "message" ? (
            <MessageView message={membersIn(value)} onRead={onRead} />
          ) : (
            <ResourceContentsView contents={value} />
          )}
        </div>
      ))}
      {parts.length > shown && (
        <button type="button" onClick={() => setShown(shown + SHOWN)}>
          Show {Math.min(SHOWN, parts.length - shown)} more of {parts.length - shown} parts
        </button>
      )}
      {!isKnown && <JsonTree value={result} label="Result" />}
    </div>
  );
}

/**
 * Maximum length of a text that is compared with the structured content, in characters. Longer texts count as
 * different.
 */
const MAX_COMPARED_LENGTH = 100_000;

/**
 * True if a text block repeats the structured content. Servers send both, because some clients do not support
 * structured content.
 */
function isRepeated(block: unknown, structured: unknown): boolean {
  const text = textIn(membersIn(block), "text");
  if (structured === undefined || text === undefined || text.length > MAX_COMPARED_LENGTH) return false;
  try {
    return sameJson(JSON.parse(text), structured);
  } catch {
    return false;
  }
}
