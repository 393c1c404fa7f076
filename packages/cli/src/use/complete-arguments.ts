import type { Tool } from "@parley/mcp/protocol";
import { formFields } from "../questions/form-field.js";
import { QuestionQueue } from "../questions/prompter.js";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { missingArguments, missingError } from "./tool-arguments.js";

/**
 * Completes the arguments of a call by asking the user for missing required arguments. Returns undefined if the user
 * leaves. Without a terminal, or if the schema cannot be shown as a form, throws a `UsageError` that names the missing
 * arguments.
 */
export async function completeArguments(
  args: Readonly<Record<string, unknown>>,
  tool: Tool,
  terminal: Terminal,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const missing = missingArguments(args, tool);
  if (missing.length === 0) return args;
  const fields = formFields(tool.inputSchema)?.filter(({ name }) => missing.includes(name));
  if (!terminal.interactive || fields === undefined || fields.length < missing.length) {
    throw missingError(missing, tool);
  }
  const { bold, cyan } = terminal.noteStyle;
  terminal.note(show`${cyan("?")} ${bold(tool.name)} needs:`);
  const { askFields } = await import("../questions/ask-form.js");
  const desk = new QuestionQueue(terminal);
  const asked = await desk.ask(terminal.io.signal, (prompter) => askFields(terminal, prompter, fields));
  return asked === undefined ? undefined : { ...args, ...asked };
}
