import type { ConfigInput } from "@parley/mcp/config";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { type Prompter, QuestionQueue } from "./prompter.js";

/** Asks the person for inputs of a configuration, which are its words and not the server's. Throws a `UsageError` if they leave. */
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
        throw new UsageError(`the configuration of ${server} asks for "${input.id}"`, `Give it: --input ${input.id}=…`);
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
  const problem = (text: string) => (text === "" ? "write a value" : undefined);
  return prompter.write(message, undefined, problem, password === true);
}
