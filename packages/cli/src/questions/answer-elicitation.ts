import type { QuestionContext } from "@parley/mcp";
import { formIssues } from "@parley/mcp/host";
import type { ElicitRequestFormParams, ElicitRequestParams, ElicitResult } from "@parley/mcp/protocol";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { askForm } from "./ask-form.js";
import { askPage, notePage } from "./ask-page.js";
import { clip, formFields } from "./form-field.js";
import type { PreparedAnswers } from "./prepared-answers.js";
import type { QuestionQueue } from "./prompter.js";
import { listOf, memberOf, type ParsedValue, resolveSchema, typedValue } from "./typed-value.js";

const MAX_SHOWN_FIELDS = 10;
const MAX_MESSAGE_LENGTH = 500;

/** The sources of answers for one command. */
export interface ElicitationContext {
  readonly terminal: Terminal;
  readonly desk: QuestionQueue;
  readonly prepared: PreparedAnswers | undefined;
  /** Ends the command with this error. Called if an `--answer` does not fit its field. */
  readonly refuse: (error: UsageError) => void;
}

/** Answers a form or a page request: with prepared answers, by asking the user, or by declining. */
export async function answerElicitation(
  at: ElicitationContext,
  question: ElicitRequestParams,
  { signal, server }: QuestionContext,
) {
  const { terminal, desk } = at;
  const within = AbortSignal.any([signal, terminal.io.signal]);
  if (question.mode === "url") {
    if (terminal.interactive) {
      return desk.ask(within, (prompter) => askPage(terminal, prompter, question, server.name));
    }
    terminal.note(
      show`${server.name} asked to open a page. Declined, because this run is not interactive: ${question.message}`,
    );
    notePage(terminal, question.url);
    return { action: "decline" } as const;
  }
  const form = question;
  const known = preparedForm(at, form, server.name);
  if ("action" in known) return known;
  return desk.ask(within, (prompter) =>
    askForm(terminal, prompter, { question: form, server: server.name, given: known.given }),
  );
}

/** Returns the final answer, or, if the user must be asked, the fields that the command line has already answered. */
function preparedForm(
  { terminal, prepared, refuse }: ElicitationContext,
  question: ElicitRequestFormParams,
  server: string,
): ElicitResult | { readonly given: Readonly<Record<string, unknown>> } {
  const { content, missing, problem } =
    prepared === undefined ? { content: {}, missing: [], problem: undefined } : prepareForm(prepared, question);
  if (prepared !== undefined && missing.length === 0 && problem === undefined) {
    // `prepareForm` validated the values; the client validates them again.
    return { action: "accept", content: content as NonNullable<ElicitResult["content"]> };
  }
  if (problem !== undefined && terminal.interactive)
    terminal.note(show`${terminal.noteStyle.yellow("warning: ")}${problem}`);
  if (terminal.interactive) return { given: problem === undefined ? content : {} };
  if (problem !== undefined) {
    refuse(new UsageError(`an --answer does not fit the form of ${server}: ${problem}`, "Correct the answer."));
    return { action: "cancel" };
  }
  const wanted = prepared === undefined ? formFields(question.requestedSchema) : undefined;
  const names = missing.length > 0 ? missing : (wanted ?? []).map(({ name }) => name);
  const pairs = names.slice(0, MAX_SHOWN_FIELDS).map((name) => `--answer ${name}=…`);
  const how = pairs.length === 0 ? "--answer name=value" : pairs.join(" ");
  terminal.note(
    show`${server} asked "${clip(question.message, MAX_MESSAGE_LENGTH)}". Declined, because this run is not interactive. To answer: ${how}`,
  );
  return { action: "decline" };
}

/** The prepared answers that belong to one form. */
interface FormAnswers {
  readonly content: Readonly<Record<string, unknown>>;
  /** Required fields without an answer. */
  readonly missing: readonly string[];
  /** Reason why an answer does not fit its field. */
  readonly problem?: string;
}

/** Selects and types the prepared answers for the fields of this form. */
function prepareForm(answers: PreparedAnswers, { requestedSchema }: ElicitRequestFormParams): FormAnswers {
  const properties = memberOf(requestedSchema, "properties");
  const content: [string, unknown][] = [];
  for (const [name, answer] of answers) {
    const property = memberOf(properties, name);
    if (property === undefined) continue;
    const schema = resolveSchema(property, requestedSchema);
    const typed = "value" in answer ? answer : typedTexts(answer.texts, schema);
    if ("problem" in typed) return { content: {}, missing: [], problem: `"${name}" is ${typed.problem}` };
    content.push([name, typed.value]);
  }
  const given = Object.fromEntries(content);
  const missing = listOf(memberOf(requestedSchema, "required")).filter(
    (name): name is string =>
      typeof name === "string" &&
      !Object.hasOwn(given, name) &&
      memberOf(memberOf(properties, name), "default") === undefined,
  );
  // Missing required fields are reported in `missing` and not as a problem, because the user may still be asked for
  // them.
  const [issue] = missing.length > 0 ? [] : formIssues({ ...requestedSchema, required: [] }, given);
  return { content: given, missing, ...(issue === undefined ? {} : { problem: issue }) };
}

/**
 * Types a single text by the field's schema. Several texts become an array of strings, the only array type that forms
 * have.
 */
function typedTexts(texts: readonly string[], schema: unknown): ParsedValue {
  const [first = ""] = texts;
  return texts.length > 1 ? { value: [...texts] } : typedValue(first, schema);
}
