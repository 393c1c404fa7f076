import { useState } from "preact/hooks";
import type { CopyForm, EntryDetail } from "../../src/contract/timeline.js";
import { act } from "../backend/act.js";
import { sharedSession } from "../backend/shared-session.js";
import { announce } from "../parts/announcer.js";
import { CodeText } from "../parts/code-text.js";
import { copyText } from "../parts/copy-text.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";

const TITLES: Readonly<Record<CopyForm, string>> = {
  curl: "curl",
  parley: "parley",
  typescript: "TypeScript",
  json: "JSON",
};
const FORMS: readonly CopyForm[] = ["curl", "parley", "typescript", "json"];

/** Copies an entry as a command, as code or as JSON, and shows the copied text. */
export function CopyForms({ detail }: { readonly detail: EntryDetail }) {
  const [copied, setCopied] = useState<{ form: CopyForm; text: string; allowed: boolean } | undefined>(undefined);
  const action = useAction();
  // A shared file has only the message as JSON. The other forms need the inspector, which generates them.
  const forms = sharedSession() === undefined ? FORMS : FORMS.filter((form) => form === "json");
  const copy = (form: CopyForm) =>
    action.run(async () => {
      const { text } =
        sharedSession() === undefined ? await act("copy", { seq: detail.summary.seq, form }) : { text: detail.text };
      const allowed = await copyText(text).then(
        () => true,
        () => false,
      );
      setCopied({ form, text, allowed });
      announce(allowed ? `Copied as ${TITLES[form]}` : `Copying was blocked; shown as ${TITLES[form]}`);
    });
  return (
    <div class="timeline-copy">
      <div class="parts-actions">
        {forms.map((form) => (
          <button key={form} type="button" disabled={action.busy} onClick={() => copy(form)}>
            Copy as {TITLES[form]}
          </button>
        ))}
      </div>
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
      {copied !== undefined && (
        <>
          <p class="soft">
            {copied.allowed
              ? "Copied to the clipboard. Secrets are replaced by placeholders; insert your own."
              : "The browser blocked copying. Select the text and copy it yourself."}
          </p>
          <CodeText label={TITLES[copied.form]} text={copied.text} />
        </>
      )}
    </div>
  );
}
