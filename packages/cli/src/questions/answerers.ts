import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { McpError, type QuestionContext } from "@parley/mcp";
import type { ElicitRequestFormParams, ElicitRequestParams, ElicitResult, Root } from "@parley/mcp/protocol";
import type { Invocation } from "../commands/command.js";
import type { OpenOptions } from "../target/open-target.js";
import { show } from "../terminal/shown.js";
import type { Terminal } from "../terminal/terminal.js";
import { UsageError } from "../terminal/usage-error.js";
import { askForm } from "./ask-form.js";
import { askModel } from "./ask-model.js";
import { askPage, notePage } from "./ask-page.js";
import { answerByCommand, commandWords } from "./model-command.js";
import { type PreparedAnswers, preparedAnswers, prepareForm } from "./prepared-answers.js";
import { QuestionDesk } from "./prompter.js";

/**
 * Answers what servers ask: by the options of the command line, by the person at the terminal, and where there is none by
 * declining, with a note of what to write instead. Throws a `UsageError` for options that cannot be used.
 */
export function answerers({ options, terminal }: Pick<Invocation, "options" | "terminal">): OpenOptions {
  const desk = new QuestionDesk(terminal);
  const prepared = preparedAnswers(options);
  const line = options.text("sampleWith");
  const model = line === undefined ? undefined : commandWords(line);
  const roots = options.many("root").map((folder) => rootOf(folder, terminal));
  return {
    onElicit: (question, context) => elicited({ terminal, desk, prepared }, question, context),
    onSample: (question, { signal, server }) => {
      const within = AbortSignal.any([signal, terminal.io.signal]);
      if (model !== undefined) return answerByCommand(model, question, terminal.io, within);
      if (terminal.interactive) {
        return desk.ask(within, (prompter) => askModel(terminal, prompter, question, server.name));
      }
      terminal.note(show`${server.name} asked a model, and was declined; answer by --sample-with <command>`);
      throw new McpError("declined", "nobody is there to answer in place of a model", {
        fix: "Name a program that answers by --sample-with <command>, or use a terminal.",
      });
    },
    ...(roots.length === 0 ? {} : { roots }),
  };
}

interface Desk {
  readonly terminal: Terminal;
  readonly desk: QuestionDesk;
  readonly prepared: PreparedAnswers | undefined;
}

async function elicited(at: Desk, question: ElicitRequestParams, { signal, server }: QuestionContext) {
  const { terminal, desk } = at;
  const within = AbortSignal.any([signal, terminal.io.signal]);
  if (question.mode === "url") {
    if (terminal.interactive) {
      return desk.ask(within, (prompter) => askPage(terminal, prompter, question, server.name));
    }
    terminal.note(show`${server.name} wants a page to be visited, and was declined: ${question.message}`);
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

/** The answer that the command line has prepared, or what of it a person need not be asked any more. */
function preparedForm(
  { terminal, prepared }: Desk,
  question: ElicitRequestFormParams,
  server: string,
): ElicitResult | { readonly given: Readonly<Record<string, unknown>> } {
  const { content, missing, problem } =
    prepared === undefined ? { content: {}, missing: [], problem: undefined } : prepareForm(prepared, question);
  if (prepared !== undefined && missing.length === 0 && problem === undefined) {
    // `prepareForm` has checked the values against the form, as the client does again.
    return { action: "accept", content: content as NonNullable<ElicitResult["content"]> };
  }
  if (problem !== undefined) terminal.note(show`${terminal.noteStyle.yellow("warning: ")}${problem}`);
  if (terminal.interactive) return { given: problem === undefined ? content : {} };
  const names = missing.length === 0 ? "" : ` (missing: ${missing.join(", ")})`;
  terminal.note(
    show`${server} asked, and was declined: ${question.message}${names}; answer by --answer name=value or --answers <json>`,
  );
  return { action: "decline" };
}

function rootOf(folder: string, { io }: Terminal): Root {
  const path = resolve(io.cwd, folder);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`--root ${folder} is no folder`, "Name a folder that exists.");
  }
  return { uri: pathToFileURL(path).href, name: basename(path) };
}
