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
 * Handlers for elicitation and sampling requests, and the roots of `--root`. The handlers answer from options of the
 * command line, or by asking the user. Without a terminal, they decline and print which option would answer. They call
 * `refuse` if an `--answer` does not fit its form. Throws a `UsageError` for invalid options.
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
    // Imported with the first question, because most commands get no question, and startup must be fast.
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
      terminal.note(
        show`${server.name} asked for a model's answer. Declined, because this run is not interactive. To answer: --sample-with <command>`,
      );
      throw new McpError("declined", "sampling was declined, because this run is not interactive", {
        fix: "Use --sample-with <command>, or run the command in a terminal.",
      });
    },
    ...(roots.length === 0 ? {} : { roots }),
  };
}

function rootOf(folder: string, { io }: Terminal): Root {
  const path = resolve(io.cwd, folder);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`--root ${folder} is not a folder`, "Name an existing folder.");
  }
  return { uri: pathToFileURL(path).href, name: basename(path) };
}
