import { McpError } from "@parley/mcp";
import { formIssues } from "@parley/mcp/host";
import type { ElicitRequestFormParams, ElicitResult, ElicitValue } from "@parley/mcp/protocol";
import type { Style } from "../terminal/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { joinText, show, showIndented, showLine, type TerminalText } from "../terminal/terminal-text.js";
import { clip, type FormField, formFields } from "./form-field.js";
import type { Prompter } from "./prompter.js";
import { memberOf, nameOfType, typedValue, typesOf } from "./typed-value.js";

/** A form and the server that sent it. */
interface FormQuestion {
  readonly question: ElicitRequestFormParams;
  readonly server: string;
  /** The values of fields that the command line has already answered, by name. */
  readonly given: Readonly<Record<string, unknown>>;
}

const MAX_MESSAGE_LENGTH = 2_000;

/**
 * Prints the server's name and its message. Indents the message, so that it does not look like output of this program.
 */
export function noteQuestion(terminal: Terminal, server: string, verb: string, message: string): void {
  const { bold, cyan } = terminal.noteStyle;
  terminal.note(show`${cyan("?")} ${bold(clip(server, 80))} ${verb}`);
  terminal.note(showIndented(clip(message, MAX_MESSAGE_LENGTH)));
}

/** Asks for the fields of a form, then lets the user send, change or decline the answers. */
export async function askForm(
  terminal: Terminal,
  prompter: Prompter,
  { question, server, given }: FormQuestion,
): Promise<ElicitResult> {
  noteQuestion(terminal, server, "asks:", question.message);
  const fields = formFields(question.requestedSchema);
  if (fields === undefined) {
    terminal.note("Declined, because the form has more than 100 fields.");
    return { action: "decline" };
  }
  const open = fields.filter(({ name }) => !Object.hasOwn(given, name));
  const first = await prompter.choose(show`Do you want to answer?`, [
    { value: "accept" as const, label: show`${open.length === 0 ? "Yes" : "Answer"}` },
    { value: "decline" as const, label: show`Decline`, hint: show`press Escape to cancel` },
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

/** Asks for each field in turn. Returns undefined if the user leaves. */
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
  // `fromEntries` defines own members, so a field named "__proto__" is safe.
  return Object.fromEntries(answers);
}

function accepted(answers: Readonly<Record<string, unknown>>): ElicitResult {
  // The client validates the values against the form before it sends them.
  return { action: "accept", content: answers as Record<string, ElicitValue> };
}

/** The answer for one field; without `value` if the field was skipped. */
type FieldAnswer = { readonly value?: unknown };

/** Asks for one field until the value is valid. Returns undefined if the user leaves the form. */
async function askField(prompter: Prompter, field: FormField, style: Style): Promise<FieldAnswer | undefined> {
  const message = messageOf(field, style);
  if (field.kind === "text") return askText(prompter, field, message);
  if (field.kind === "choices") {
    const options = field.choices.map(({ value, label }) => ({ value, label: showLine(label) }));
    const initial = Array.isArray(field.preset) ? field.preset : [];
    return askChoices(prompter, field, message, options, initial);
  }
  const known: readonly { value: unknown; label: string }[] =
    field.kind === "boolean"
      ? [
          { value: true, label: "yes" },
          { value: false, label: "no" },
        ]
      : field.choices;
  const options = known.map(({ value, label }) => ({ value: { value } as FieldAnswer, label: showLine(label) }));
  const skip = { value: {}, label: show`${style.dim("skip")}` };
  const all = field.required || field.preset !== undefined ? options : [...options, skip];
  const preset = all.find(({ value }) => "value" in value && value.value === field.preset);
  // Without a preset, preselects the skip option or, for a required boolean, "no", so that pressing Enter alone does
  // not consent to anything.
  const cautious = all.includes(skip) ? skip : field.kind === "boolean" ? options[1] : options[0];
  return prompter.choose(message, all, (preset ?? cautious)?.value);
}

async function askChoices(
  prompter: Prompter,
  field: FormField,
  message: TerminalText,
  options: readonly { value: string | number | boolean; label: TerminalText }[],
  initial: readonly (string | number | boolean)[],
): Promise<FieldAnswer | undefined> {
  let problem: string | undefined;
  // Cancels the form after `MAX_ROUNDS` invalid answers. The user can leave the form earlier.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const asked = problem === undefined ? message : joinText([message, show`\n${problem}`]);
    const value = await prompter.chooseSome(asked, options, initial, field.required);
    if (value === undefined) return undefined;
    if (value.length === 0 && !field.required) return {};
    problem = issueOf(field, value);
    if (problem === undefined) return { value };
  }
  return undefined;
}

const MAX_ROUNDS = 100;

async function askText(prompter: Prompter, field: FormField, message: TerminalText): Promise<FieldAnswer | undefined> {
  const optional = !field.required || field.preset !== undefined;
  const spelled = typeof field.preset === "string" ? field.preset : JSON.stringify(field.preset);
  const preset = spelled === undefined ? undefined : showLine(spelled);
  const text = await prompter.write(message, preset, (written) => {
    if (written === "" && optional) return undefined;
    const typed = typedValue(written, field.schema);
    return "problem" in typed ? expectedType(field) : issueOf(field, typed.value);
  });
  if (text === undefined) return undefined;
  // The preset is displayed with escaped control characters, so send the original value instead of the text.
  if (text === preset?.text) return { value: field.preset };
  if (text === "" && optional) return {};
  const typed = typedValue(text, field.schema);
  return "value" in typed ? { value: typed.value } : {};
}

function messageOf({ label, description, required, preset, name }: FormField, style: Style): TerminalText {
  const parts = [style.bold(label)];
  if (label !== name) parts.push(show` ${style.dim(`(${name})`)}`);
  if (!required && preset === undefined) parts.push(show` ${style.dim("(optional)")}`);
  if (description !== "") parts.push(show`  ${style.dim(description)}`);
  return joinText(parts);
}

function expectedType({ schema }: FormField): string {
  const types = [...typesOf(schema, schema)];
  return `Enter ${types.map(nameOfType).join(" or ")}.`;
}

/** Validates a value against its field. Returns undefined for a valid value, and if the schema cannot be compiled. */
function issueOf({ name, schema, required }: FormField, value: unknown): string | undefined {
  // Forms have only plain values and arrays of them. The server validates other values.
  if (typeof value === "object" && !Array.isArray(value)) return undefined;
  const form = { type: "object", properties: { [name]: schema }, ...(required ? { required: [name] } : {}) };
  try {
    const [issue] = formIssues(form, { [name]: value });
    if (issue === undefined) return requiredIssue(schema, required, value);
    return issue.startsWith(`/${name} `) ? issue.slice(name.length + 2) : issue;
  } catch (reason) {
    if (McpError.is(reason)) return undefined;
    throw reason;
  }
}

/** Rejects an empty text for a required field: most schemas allow an empty text, but it is rarely intended. */
function requiredIssue(schema: unknown, required: boolean, value: unknown): string | undefined {
  return required && value === "" && memberOf(schema, "minLength") !== 0 ? "This field is required." : undefined;
}
