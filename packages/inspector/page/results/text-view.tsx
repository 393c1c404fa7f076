import { printable } from "@parley/mcp/protocol";
import { useMemo, useState } from "preact/hooks";
import { JsonTree } from "../parts/json-tree.js";
import { saveBytes } from "../parts/save-file.js";
import { looksLikeMarkdown, markdownTokens } from "./markdown-tokens.js";
import { MarkdownView } from "./markdown-view.js";
import { plainType } from "./media-data.js";

/** Number of characters displayed at first, and added by each "Show more". */
const SHOWN = 200_000;
/** Maximum number of displayed characters. The whole text can be saved. */
const MAX_SHOWN = 2_000_000;
/** Maximum length of a text that is parsed as JSON, in characters. Longer texts have no tree. */
const MAX_TREE_LENGTH = 1_000_000;

type Form = "text" | "markdown" | "json";

interface TextViewProps {
  readonly text: string;
  readonly mimeType?: string | undefined;
  /** The file name for saving. */
  readonly fileName?: string | undefined;
}

/** A text from a server: unformatted, as Markdown, or as a tree if it is JSON. */
export function TextView({ text, mimeType, fileName = "text.txt" }: TextViewProps) {
  const tree = useMemo(() => jsonIn(text), [text]);
  const [chosen, setChosen] = useState<Form>();
  const form = chosen ?? formOf(text, mimeType, tree !== undefined);
  const forms: readonly Form[] = tree === undefined ? ["text", "markdown"] : ["text", "markdown", "json"];
  return (
    <div class="results-text">
      <fieldset class="results-forms" aria-label="Show as">
        {forms.map((each) => (
          <button key={each} type="button" class="quiet" aria-pressed={each === form} onClick={() => setChosen(each)}>
            {each === "json" ? "JSON" : each === "text" ? "Text" : "Markdown"}
          </button>
        ))}
      </fieldset>
      {form === "json" && tree !== undefined ? (
        <JsonTree value={tree.value} label="JSON" />
      ) : form === "markdown" ? (
        <AsMarkdown text={text} fileName={fileName} />
      ) : (
        <PlainText text={text} fileName={fileName} />
      )}
    </div>
  );
}

function formOf(text: string, mimeType: string | undefined, isJson: boolean): Form {
  const type = plainType(mimeType);
  if (type === "text/markdown") return "markdown";
  if (isJson) return "json";
  return (type === "" || type === "text/plain") && looksLikeMarkdown(text) ? "markdown" : "text";
}

/** Parses JSON objects and lists. Other JSON values are shown as text, because a tree would add nothing. */
function jsonIn(text: string): { readonly value: unknown } | undefined {
  if (text.length > MAX_TREE_LENGTH || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function AsMarkdown({ text, fileName }: { readonly text: string; readonly fileName: string }) {
  const tokens = useMemo(() => markdownTokens(text), [text]);
  if (tokens !== undefined) return <MarkdownView tokens={tokens} />;
  return (
    <>
      <p class="soft">The text is too large or too deeply nested to show as Markdown.</p>
      <PlainText text={text} fileName={fileName} />
    </>
  );
}

/** Unformatted text, truncated if long. Characters that hide or reorder others are escaped. */
export function PlainText({ text, fileName }: { readonly text: string; readonly fileName: string }) {
  const [shown, setShown] = useState(SHOWN);
  const left = text.length - shown;
  return (
    <>
      <pre class="results-plain">{printable(text.slice(0, shown))}</pre>
      {left > 0 && (
        <p class="results-more">
          <span class="soft">{left.toLocaleString("en")} more characters.</span>{" "}
          {shown < MAX_SHOWN && (
            <button type="button" onClick={() => setShown(shown + SHOWN)}>
              Show more
            </button>
          )}{" "}
          <button type="button" onClick={() => saveBytes(fileName, text)}>
            Save all
          </button>
        </p>
      )}
    </>
  );
}
