import { McpError } from "@parley/mcp";
import { formIssues } from "@parley/mcp/host";
import type { Shown } from "../terminal/shown.js";
import { joinShown, show, shownLine } from "../terminal/shown.js";
import type { Style } from "../terminal/style.js";
import type { FormField } from "./form-field.js";
import type { Prompter } from "./prompter.js";
import { memberOf, nameOfType, typedValue, typesOf } from "./typed-value.js";

/** What a field was answered with. A field that was left out has no value. */
export type FieldAnswer = { readonly value?: unknown };

/** Asks for one field, with what is wrong until it fits; undefined if the person leaves the form. */
export async function askField(prompter: Prompter, field: FormField, style: Style): Promise<FieldAnswer | undefined> {
  const message = messageOf(field, style);
  if (field.kind === "text") return askText(prompter, field, message);
  if (field.kind === "choices") {
    const options = field.choices.map(({ value, label }) => ({ value, label: shownLine(label) }));
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
  const options = known.map(({ value, label }) => ({ value: { value } as FieldAnswer, label: shownLine(label) }));
  const skip = { value: {}, label: show`${style.dim("leave it out")}` };
  const all = field.required || field.preset !== undefined ? options : [...options, skip];
  const preset = all.find(({ value }) => "value" in value && value.value === field.preset);
  // Whoever only presses Enter agrees to nothing.
  const cautious = all.includes(skip) ? skip : field.kind === "boolean" ? options[1] : options[0];
  return prompter.choose(message, all, (preset ?? cautious)?.value);
}

async function askChoices(
  prompter: Prompter,
  field: FormField,
  message: Shown,
  options: readonly { value: string | number | boolean; label: Shown }[],
  initial: readonly (string | number | boolean)[],
): Promise<FieldAnswer | undefined> {
  let problem: string | undefined;
  // Bounded: a person who cannot please the schema leaves the form.
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const asked = problem === undefined ? message : joinShown([message, show`\n${problem}`]);
    const value = await prompter.chooseSome(asked, options, initial, field.required);
    if (value === undefined) return undefined;
    if (value.length === 0 && !field.required) return {};
    problem = issueOf(field, value);
    if (problem === undefined) return { value };
  }
  return undefined;
}

const MOST_ROUNDS = 100;

async function askText(prompter: Prompter, field: FormField, message: Shown): Promise<FieldAnswer | undefined> {
  const optional = !field.required || field.preset !== undefined;
  const spelled = typeof field.preset === "string" ? field.preset : JSON.stringify(field.preset);
  const preset = spelled === undefined ? undefined : shownLine(spelled);
  const text = await prompter.write(message, preset, (written) => {
    if (written === "" && optional) return undefined;
    const typed = typedValue(written, field.schema);
    return "problem" in typed ? wanted(field) : issueOf(field, typed.value);
  });
  if (text === undefined) return undefined;
  // The default is shown with its control characters spelled; what is sent is the default itself.
  if (text === preset?.text) return { value: field.preset };
  if (text === "" && optional) return {};
  const typed = typedValue(text, field.schema);
  return "value" in typed ? { value: typed.value } : {};
}

function messageOf({ label, description, required, preset, name }: FormField, style: Style): Shown {
  const parts = [style.bold(label)];
  if (label !== name) parts.push(show` ${style.dim(`(${name})`)}`);
  if (!required && preset === undefined) parts.push(show` ${style.dim("(optional)")}`);
  if (description !== "") parts.push(show`  ${style.dim(description)}`);
  return joinShown(parts);
}

function wanted({ schema }: FormField): string {
  const types = [...typesOf(schema, schema)];
  return `Write ${types.map(nameOfType).join(" or ")}.`;
}

/** Why a value does not fit its field; a schema that cannot be used is left to the server. */
function issueOf({ name, schema, required }: FormField, value: unknown): string | undefined {
  // Only a form of plain values can be checked here; for others the server decides.
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

/** An empty text fits most schemas, and is rarely what somebody means who was asked for one. */
function requiredIssue(schema: unknown, required: boolean, value: unknown): string | undefined {
  return required && value === "" && memberOf(schema, "minLength") !== 0 ? "Write something." : undefined;
}
