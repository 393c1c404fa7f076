import type { CommandRun } from "../commands/command.js";
import { EXIT } from "../terminal/exit-code.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { openServer } from "./open-server.js";
import { parseArguments } from "./parse-arguments.js";

/** `parley complete`: prints the server's suggestions for an argument. */
export const complete: CommandRun = async (invocation) => {
  const { terminal } = invocation;
  const { signal } = terminal.io;
  await using server = await openServer(invocation, ([what, argument]) => {
    if (what !== undefined && argument !== undefined) return;
    throw new UsageError(
      what === undefined ? "which prompt or template?" : "which argument?",
      "Write `parley complete <target> <prompt or template> <argument> [typed] [name=value…]`.",
    );
  });
  const [what = "", argument = "", value = "", ...rest] = server.words;
  const { named } = await parseArguments(rest, terminal.io);
  const settled = Object.fromEntries(named.map(({ name, text }) => [name, text]));
  // Names of prompts normally contain neither braces nor `://`, so a word with one of them is taken as a URI template.
  const target = /[{}]|:\/\//.test(what) ? { resource: what } : { prompt: what };
  const context = named.length === 0 ? undefined : settled;
  const completion = await server.client.complete(target, { name: argument, value }, context, { signal });
  if (terminal.json) terminal.printJson(completion);
  else {
    for (const one of completion.values) terminal.print(show`${one}`);
    const { total, hasMore = false, values } = completion;
    if (hasMore || (total ?? 0) > values.length) {
      terminal.note(show`${values.length} of ${total ?? "more"} shown; type more of the value to narrow them down`);
    }
  }
  return EXIT.ok;
};
