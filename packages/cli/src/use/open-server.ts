import type { Client } from "@parley/mcp";
import type { Invocation } from "../commands/command.js";
import { questionHandlers } from "../questions/question-handlers.js";
import { type OpenOptions, openTarget } from "../target/open-target.js";
import { type ProjectBuild, projectBuild } from "../target/project-build.js";
import { resolveTarget } from "../target/target.js";
import type { UsageError } from "../terminal/usage-error.js";

/** The connected server of a command line, and the remaining words. */
export interface OpenServer extends AsyncDisposable {
  readonly client: Client;
  readonly words: readonly string[];
  /**
   * Signal for the command's requests. Aborted when the user interrupts, or when an `--answer` does not fit its form.
   */
  readonly signal: AbortSignal;
  /** Examines the build output that the server runs. Returns undefined if it runs none. */
  readonly build: () => ProjectBuild | undefined;
}

/**
 * Connects to the target of a command line, with handlers for elicitation and sampling. `check` validates the remaining
 * words before a server is started or contacted.
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
  const { io } = invocation.terminal;
  const signal = AbortSignal.any([io.signal, refused.signal]);
  const build = () => projectBuild(target, io.cwd);
  return { client, words, signal, build, [Symbol.asyncDispose]: () => client.close() };
}
