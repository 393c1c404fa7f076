import type { ConfigInput } from "@parley/mcp/config";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { type Prompter, QuestionQueue } from "./prompter.js";

/** Asks the user for the inputs that a server's entry refers to. Throws a `UsageError` if the user leaves. */
export async function askInputs(
  terminal: Terminal,
  server: string,
  needed: readonly ConfigInput[],
): Promise<[string, string][]> {
  const desk = new QuestionQueue(terminal);
  return desk.ask(terminal.io.signal, async (prompter) => {
    const values: [string, string][] = [];
    for (const input of needed) {
      const value = await askInput(prompter, input);
      if (value === undefined) {
        throw new UsageError(
          `the configuration of ${server} needs a value for "${input.id}"`,
          `Pass --input ${input.id}=<value>.`,
        );
      }
      values.push([input.id, value]);
    }
    return values;
  });
}

function askInput(
  prompter: Prompter,
  { id, description, password, options }: ConfigInput,
): Promise<string | undefined> {
  const message = show`${description ?? id}`;
  if (options !== undefined && options.length > 0) {
    return prompter.choose(
      message,
      options.map((value) => ({ value, label: show`${value}` })),
    );
  }
  const problem = (text: string) => (text === "" ? "Enter a value." : undefined);
  return prompter.write(message, undefined, problem, password === true);
}
