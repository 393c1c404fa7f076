import { type Inspector, type InspectorOptions, startInspector } from "@parley/inspector";
import type { Revision } from "@parley/mcp";
import { fileTokenStore, openInBrowser } from "@parley/mcp/login";
import type { CommandRun, Invocation } from "../commands/command.js";
import { answerByCommand, commandWords } from "../questions/model-command.js";
import { tokenFile } from "../target/token-file.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Io } from "../terminal/io.js";
import { show } from "../terminal/shown.js";
import { inspectorTargets } from "./inspector-targets.js";

/** `parley inspect`: serves the inspector's page until a signal comes. */
export const inspect: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const targets = await inspectorTargets(invocation);
  const inspector = await startInspector({ ...inspectorOptions(invocation), targets });
  try {
    if (terminal.json) terminal.printJsonLine({ url: inspector.url });
    else terminal.print(show`${inspector.url}`);
    const { dim } = terminal.noteStyle;
    terminal.note(show`${dim("the address has the key in it; Ctrl-C ends the inspector")}`);
    if (terminal.io.stdout.isTTY === true && !options.isOff("open")) openPage(inspector.url);
    await ended(inspector, terminal.io);
  } finally {
    await inspector.close();
  }
  return EXIT.ok;
};

function inspectorOptions({ options, terminal: { io } }: Invocation): InspectorOptions {
  const line = options.text("sampleWith");
  const words = line === undefined ? undefined : commandWords(line);
  return {
    port: options.count("port", 0, 65_535),
    // Commander admits the revisions of the protocol alone.
    revision: options.text("revision") as Revision | undefined,
    connectMs: options.duration("timeout"),
    tokens: fileTokenStore(tokenFile(io)),
    loadTokenizer: async () => (await import("../tokens/token-counter.js")).loadTokenizer(),
    ...(words === undefined
      ? {}
      : { model: (question, signal) => answerByCommand(words, question, io, AbortSignal.any([signal, io.signal])) }),
  };
}

function openPage(url: string): void {
  try {
    openInBrowser(url);
  } catch {
    // No program is known here that opens addresses; it stands on the screen.
  }
}

async function ended({ closed }: Inspector, { signal }: Io): Promise<void> {
  const interrupted = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await Promise.race([closed, interrupted]);
}
