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

/** Copies an entry in forms that run elsewhere, and shows what was copied. */
export function CopyForms({ detail }: { readonly detail: EntryDetail }) {
  const [copied, setCopied] = useState<{ form: CopyForm; text: string; allowed: boolean } | undefined>(undefined);
  const action = useAction();
  // A file without an inspector has the message alone; the other forms are written by the inspector.
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
      announce(allowed ? `Copied as ${TITLES[form]}` : `Shown as ${TITLES[form]}, not copied`);
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
              ? "On the clipboard. Secrets are taken out: put your own in where it says so."
              : "The browser does not allow the page to copy; select the text."}
          </p>
          <CodeText label={TITLES[copied.form]} text={copied.text} />
        </>
      )}
    </div>
  );
}
