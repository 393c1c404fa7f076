import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { McpError } from "@parley/mcp";
import type { Root } from "@parley/mcp/protocol";
import type { Invocation } from "../commands/command.js";
import type { OpenOptions } from "../target/open-target.js";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { answerByCommand, commandWords } from "./model-command.js";
import { preparedAnswers } from "./prepared-answers.js";
import { QuestionQueue } from "./prompter.js";

/**
 * Answers what servers ask: by the options of the command line, by the person at the terminal, and where there is none by
 * declining, with a note of what to write instead. Throws a `UsageError` for options that cannot be used; `refuse` gets the one for
 * an answer that does not fit its question.
 */
export function questionHandlers(
  { options, terminal }: Pick<Invocation, "options" | "terminal">,
  refuse: (error: UsageError) => void = () => {},
): OpenOptions {
  const desk = new QuestionQueue(terminal);
  const prepared = preparedAnswers(options);
  const line = options.text("sampleWith");
  const model = line === undefined ? undefined : commandWords(line);
  const roots = options.many("root").map((folder) => rootOf(folder, terminal));
  return {
    // What asks is loaded when the first question comes: most commands have none, and a shell is waiting.
    onElicit: async (question, context) => {
      const { answerElicitation } = await import("./answer-elicitation.js");
      return answerElicitation({ terminal, desk, prepared, refuse }, question, context);
    },
    onSample: async (question, { signal, server }) => {
      const within = AbortSignal.any([signal, terminal.io.signal]);
      if (model !== undefined) return answerByCommand(model, question, terminal.io, within);
      if (terminal.interactive) {
        const { askModel } = await import("./ask-model.js");
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

function rootOf(folder: string, { io }: Terminal): Root {
  const path = resolve(io.cwd, folder);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`--root ${folder} is no folder`, "Name a folder that exists.");
  }
  return { uri: pathToFileURL(path).href, name: basename(path) };
}
