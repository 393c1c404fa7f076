import { useMemo, useState } from "preact/hooks";
import type { EntryDetail, MessageProblem } from "../../src/contract/timeline.js";
import { CopyButton } from "../parts/copy-button.js";
import { problemLines, problemWords } from "./problem-lines.js";

/**
 * Number of characters displayed at first. A button shows the rest, because browsers need long to lay out a longer
 * text.
 */
const FIRST_CHARACTERS = 100_000;
/** Maximum number of lines with syntax colours. Longer messages are plain text, which browsers lay out fast enough. */
const MAX_COLOURED_LINES = 1_000;

/** A message as JSON, with each schema violation beside its line. */
export function MessageText({ detail }: { readonly detail: EntryDetail }) {
  const { text, problems } = detail;
  const [whole, setWhole] = useState(false);
  if (text === "") return <Verdict detail={detail} />;
  return (
    <div class="timeline-message">
      <Verdict detail={detail} />
      <div class="parts-code">
        <CopyButton text={text} label="Message" />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
        <section aria-label="Message" tabIndex={0}>
          <pre>
            <MessageLines text={whole ? text : text.slice(0, FIRST_CHARACTERS)} problems={problems} />
          </pre>
        </section>
      </div>
      {!whole && text.length > FIRST_CHARACTERS && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {text.length} characters
        </button>
      )}
      {detail.cut && <p class="soft">The message is truncated here. Export the session to get all of it.</p>}
    </div>
  );
}

function Verdict({ detail }: { readonly detail: EntryDetail }) {
  const { definition, revision, problems, unchecked } = detail;
  const held = `${definition ?? "message"}${revision === undefined ? "" : ` of ${revision}`}`;
  if (problems.length > 0) {
    return (
      <div class="timeline-verdict timeline-verdict-bad">
        <p>
          <strong>Violates the published schema</strong> <code>{held}</code> in{" "}
          {problems.length === 1 ? "1 place" : `${problems.length} places`}:
        </p>
        <ProblemList problems={problems} />
        {unchecked !== undefined && <p>Only its beginning was checked against the schema: {unchecked}.</p>}
      </div>
    );
  }
  if (unchecked !== undefined) {
    const extent = definition === undefined ? "Not" : "Only its beginning was";
    return (
      <p class="timeline-verdict soft">
        {extent} checked against the published schema: {unchecked}.
      </p>
    );
  }
  if (definition === undefined) return null;
  return (
    <p class="timeline-verdict timeline-verdict-good">
      ✓ Matches the published schema <code>{definition}</code>
      {revision !== undefined && ` of ${revision}`}
    </p>
  );
}

/** Number of violations listed at first. Each violation also appears beside its line. */
const FIRST_PROBLEMS = 5;

function ProblemList({ problems }: Pick<EntryDetail, "problems">) {
  const [all, setAll] = useState(false);
  return (
    <>
      <ul aria-label="Schema violations">
        {problems.slice(0, all ? undefined : FIRST_PROBLEMS).map((problem) => (
          <li key={`${problem.path} ${problem.message}`}>
            <code>{problem.path === "" ? "(the message)" : problem.path}</code> {problemWords(problem)}
          </li>
        ))}
      </ul>
      {!all && problems.length > FIRST_PROBLEMS && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {problems.length}
        </button>
      )}
    </>
  );
}

interface Segment {
  readonly text: string;
  readonly problems: readonly MessageProblem[];
}

function MessageLines({ text, problems }: { readonly text: string; readonly problems: readonly MessageProblem[] }) {
  const segments = useMemo(() => segmentsOf(text, problems), [text, problems]);
  return (
    <>
      {segments.map((segment, index) =>
        segment.problems.length === 0 ? (
          <JsonLine key={index} text={segment.text} />
        ) : (
          <span key={index} class="timeline-wrong-line">
            <JsonLine text={segment.text} />
            <span class="timeline-notes">
              {segment.problems.map((problem) => (
                <span key={problem.path + problem.message}>⚠ {problemWords(problem)}</span>
              ))}
            </span>
          </span>
        ),
      )}
    </>
  );
}

/**
 * Splits a short text into one segment per line. Splits a longer text into the lines with violations and the text
 * between them.
 */
function segmentsOf(text: string, problems: readonly MessageProblem[]): readonly Segment[] {
  const placed = problemLines(text, problems);
  const lines = text.split("\n");
  const alone = lines.length <= MAX_COLOURED_LINES;
  const segments: Segment[] = [];
  let between: string[] = [];
  const flush = () => {
    if (between.length > 0) segments.push({ text: between.join("\n"), problems: [] });
    between = [];
  };
  lines.forEach((line, index) => {
    const here = placed.get(index) ?? [];
    if (here.length === 0) between.push(line);
    if (here.length > 0 || alone) flush();
    if (here.length > 0) segments.push({ text: line, problems: here });
  });
  flush();
  return segments;
}

/** Maximum length of a line with syntax colours, in characters. Longer lines are plain text. */
const MAX_COLOURED_LENGTH = 10_000;
const MEMBER = /^(\s*)("(?:[^"\\]|\\.)*")(: )(.*)$/;

const valueClass = (value: string) =>
  value.startsWith('"') ? "parts-tree-string" : /^[\d\-tfn]/.test(value) ? "parts-tree-number" : undefined;

/** Lines of JSON text. A single line gets colours. */
function JsonLine({ text }: { readonly text: string }) {
  if (text.length > MAX_COLOURED_LENGTH || text.includes("\n")) return <span class="timeline-line">{text}</span>;
  const [, indent = "", key = "", colon = "", value = text] = MEMBER.exec(text) ?? [];
  const bare = value.trimStart();
  return (
    <span class="timeline-line">
      {indent}
      {key !== "" && <span class="parts-tree-name">{key}</span>}
      {colon}
      {value.slice(0, value.length - bare.length)}
      <span class={valueClass(bare)}>{bare}</span>
    </span>
  );
}
