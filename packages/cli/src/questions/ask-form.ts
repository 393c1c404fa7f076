import type { ElicitRequestFormParams, ElicitResult, ElicitValue } from "@parley/mcp/protocol";
import { show, showIndented } from "../terminal/shown.js";
import type { Terminal } from "../terminal/terminal.js";
import { askField } from "./ask-field.js";
import { clipped, type FormField, formFields } from "./form-field.js";
import type { Prompter } from "./prompter.js";

/** What a form is and who wants it answered. */
export interface AskedForm {
  readonly question: ElicitRequestFormParams;
  readonly server: string;
  /** Fields that the command line has answered. */
  readonly given: Readonly<Record<string, unknown>>;
}

const LONGEST_MESSAGE = 2_000;

/** Says who asks what: the words are the server's, indented so that they look like nobody else's. */
export function noteQuestion(terminal: Terminal, server: string, verb: string, message: string): void {
  const { bold, cyan } = terminal.noteStyle;
  terminal.note(show`${cyan("?")} ${bold(clipped(server, 80))} ${verb}`);
  terminal.note(showIndented(clipped(message, LONGEST_MESSAGE)));
}

/** Asks for the fields of a form, shows them once more, and lets the person send, change or decline them. */
export async function askForm(
  terminal: Terminal,
  prompter: Prompter,
  { question, server, given }: AskedForm,
): Promise<ElicitResult> {
  noteQuestion(terminal, server, "asks:", question.message);
  const fields = formFields(question.requestedSchema);
  if (fields === undefined) {
    terminal.note("The form has more than 100 fields, and was declined.");
    return { action: "decline" };
  }
  const open = fields.filter(({ name }) => !Object.hasOwn(given, name));
  const first = await prompter.choose(show`Do you want to answer?`, [
    { value: "accept" as const, label: show`${open.length === 0 ? "Yes" : "Answer"}` },
    { value: "decline" as const, label: show`Decline`, hint: show`Escape leaves without an answer` },
  ]);
  if (first !== "accept") return { action: first ?? "cancel" };
  if (open.length === 0) return accepted(given);
  for (;;) {
    const answers = await askFields(terminal, prompter, open);
    if (answers === undefined) return { action: "cancel" };
    const next = await prompter.choose(show`Send these answers to ${server}?`, [
      { value: "accept" as const, label: show`Send` },
      { value: "change" as const, label: show`Change them` },
      { value: "decline" as const, label: show`Decline` },
    ]);
    if (next === "accept") return accepted({ ...given, ...answers });
    if (next !== "change") return { action: next ?? "cancel" };
  }
}

/** Asks for each field in turn; undefined if the person leaves. */
export async function askFields(
  terminal: Terminal,
  prompter: Prompter,
  fields: readonly FormField[],
): Promise<Record<string, unknown> | undefined> {
  const answers: [string, unknown][] = [];
  for (const field of fields) {
    const answer = await askField(prompter, field, terminal.noteStyle);
    if (answer === undefined) return undefined;
    if ("value" in answer) answers.push([field.name, answer.value]);
  }
  // Entries define members, so that "__proto__" stays a name like others.
  return Object.fromEntries(answers);
}

function accepted(answers: Readonly<Record<string, unknown>>): ElicitResult {
  // The client checks the values against the form before they are sent.
  return { action: "accept", content: answers as Record<string, ElicitValue> };
}
