import type { Change, Client } from "@parley/mcp";
import type { CommandRun } from "../commands/command.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { show, showIndented } from "../terminal/terminal-text.js";
import { openServer } from "./open-server.js";

/** `parley subscribe`: prints changes until `--count` is reached or the user interrupts. */
export const subscribe: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const { signal } = terminal.io;
  const count = options.count("count", 1) ?? Number.POSITIVE_INFINITY;
  await using server = await openServer(invocation);
  const { client, words } = server;
  const { resources, tools, prompts } = client.serverCapabilities;
  const target =
    words.length > 0
      ? { resources: words }
      : {
          tools: tools?.listChanged === true,
          prompts: prompts?.listChanged === true,
          resourceList: resources?.listChanged === true,
        };
  await using subscription = await client.subscribe(target, { signal });
  // The loop below takes no signal, so an interrupt closes the subscription, which ends the loop.
  const end = () => void subscription.close().catch(() => {});
  signal.addEventListener("abort", end, { once: true });
  terminal.note(show`${terminal.noteStyle.dim("waiting for changes; press Ctrl-C to stop")}`);
  let printed = 0;
  try {
    if (signal.aborted) end();
    for await (const change of subscription) {
      await printChange(terminal, client, change, options.flag("read"));
      if (++printed >= count) break;
    }
  } finally {
    signal.removeEventListener("abort", end);
  }
  if (printed >= count || (signal.aborted && count === Number.POSITIVE_INFINITY)) return EXIT.ok;
  return signal.aborted ? EXIT.interrupted : EXIT.unreachable;
};

async function printChange(terminal: Terminal, client: Client, change: Change, read: boolean): Promise<void> {
  const { kind, uri, missed } = change;
  const now = read && uri !== undefined ? await client.tryReadResource(uri, { signal: terminal.io.signal }) : undefined;
  if (terminal.json) {
    const contents = now?.ok === true ? { contents: now.value.contents } : {};
    const error = now?.ok === false ? { error: { kind: now.error.kind, message: now.error.message } } : {};
    return terminal.printJsonLine({ kind, ...(uri === undefined ? {} : { uri }), missed, ...contents, ...error });
  }
  const { cyan, dim, red } = terminal.style;
  const what = uri === undefined ? `the list of ${kind}` : uri;
  terminal.print(show`${missed ? dim("may have changed:") : "changed:"} ${cyan(what)}`);
  if (now?.ok === false) terminal.print(show`  ${red(now.error.message)}`);
  for (const contents of now?.ok === true ? now.value.contents : []) {
    if ("text" in contents) terminal.print(showIndented(contents.text));
    else terminal.print(show`  ${dim(`(${contents.blob.length} characters of Base64; parley read saves them)`)}`);
  }
}
