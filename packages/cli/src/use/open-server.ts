import type { Client } from "@parley/mcp";
import type { Invocation } from "../commands/command.js";
import { questionHandlers } from "../questions/question-handlers.js";
import { type OpenOptions, openTarget } from "../target/open-target.js";
import { resolveTarget } from "../target/target.js";
import type { UsageError } from "../terminal/usage-error.js";

/** The server of a command line, connected, and the words that remain for the command. */
export interface OpenServer extends AsyncDisposable {
  readonly client: Client;
  readonly words: readonly string[];
  /** For the requests of the command: aborted by the user, or because an answer of the command line does not fit. */
  readonly signal: AbortSignal;
}

/**
 * Connects to the target of a command line with answers for everything that a server may ask. `check` sees the words first, so
 * that a command line that cannot work starts nothing.
 */
export async function openServer(
  invocation: Invocation,
  check: (words: readonly string[]) => void = () => {},
  more: OpenOptions = {},
): Promise<OpenServer> {
  const [target, words] = await resolveTarget(invocation);
  check(words);
  const refused = new AbortController();
  const refuse = (error: UsageError) => refused.abort(error);
  const client = await openTarget(target, invocation, { ...questionHandlers(invocation, refuse), ...more });
  const signal = AbortSignal.any([invocation.terminal.io.signal, refused.signal]);
  return { client, words, signal, [Symbol.asyncDispose]: () => client.close() };
}
