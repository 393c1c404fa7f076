import type { Client } from "@parley/mcp";
import type { Prompt } from "@parley/mcp/protocol";
import type { CommandRun } from "../commands/command.js";
import { EXIT } from "../terminal/exit-code.js";
import { show } from "../terminal/terminal-text.js";
import { completeArguments } from "./complete-arguments.js";
import { openServer } from "./open-server.js";
import { parseArguments } from "./parse-arguments.js";
import { printBlock } from "./print-blocks.js";
import { withProgress } from "./progress.js";
import { FileSaver } from "./saved-files.js";
import { toolArguments } from "./tool-arguments.js";
import { missingName, unknownName, withBuildAdvice } from "./unknown-name.js";

/** `parley prompt`: prints the messages of a prompt. */
export const prompt: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const { io, style } = terminal;
  await using server = await openServer(invocation, ([name]) => {
    if (name === undefined) throw missingName("prompt", "prompt", invocation);
  });
  const [name = "", ...rest] = server.words;
  const given = await parseArguments(rest, io);
  const found = await withBuildAdvice(server, findPrompt(server.client, name, io.signal));
  const asTool = toolOf(found);
  const args = await completeArguments(toolArguments(given, asTool), asTool, terminal);
  if (args === undefined) {
    terminal.note("Nothing was requested.");
    return EXIT.failed;
  }
  // Arguments of prompts are always strings.
  const texts = Object.fromEntries(
    Object.entries(args).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );
  const result = await withProgress(invocation, (onProgress) =>
    server.client.getPrompt(name, texts, { signal: server.signal, onProgress }),
  );
  if (terminal.json) {
    terminal.printJson(result);
    return EXIT.ok;
  }
  const saver = new FileSaver(io, name, { output: options.text("output"), force: options.flag("force") });
  if (result.description !== undefined) terminal.note(show`${terminal.noteStyle.dim(result.description)}`);
  for (const { role, content } of result.messages) {
    terminal.print(show`${style.bold(`${role}:`)}`);
    printBlock(terminal, content, saver);
  }
  return EXIT.ok;
};

async function findPrompt(client: Client, name: string, signal: AbortSignal): Promise<Prompt> {
  const names: string[] = [];
  for await (const one of client.prompts({ signal })) {
    if (one.name === name) return one;
    names.push(one.name);
  }
  throw unknownName("prompt", name, names);
}

/** Represents a prompt as a tool with string arguments, so that both share the parsing of arguments. */
function toolOf({ name, arguments: args = [] }: Prompt): Parameters<typeof toolArguments>[1] {
  const properties = Object.fromEntries(
    args.map(({ name: argument, description, title }) => [argument, { type: "string", title, description }]),
  );
  const required = args.flatMap((one) => (one.required === true ? [one.name] : []));
  return { name, inputSchema: { type: "object", properties, required } };
}
