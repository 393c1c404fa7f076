import { resolve } from "node:path";
import { McpError } from "@parley/mcp";
import type { CommandRun, Invocation } from "../commands/command.js";
import { readConfigServers } from "../target/config-servers.js";
import { DECLINE_QUESTIONS } from "../target/decline-questions.js";
import { openTarget } from "../target/open-target.js";
import { resolveTarget } from "../target/target.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { type Showable, show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { type ServerCosts, serverCosts } from "./server-costs.js";
import { type CountTokens, loadTokenizer, TOKENIZERS } from "./token-counter.js";
import { counted, printTokenBudget, withCommas } from "./token-figures.js";

/** The costs of one server of a file, or the reason why they are unknown. */
interface ConfiguredCosts {
  readonly server: string;
  readonly costs?: ServerCosts;
  readonly failure?: string;
}

/** Maximum number of servers measured from one file. More servers are a usage error. */
const MAX_SERVERS = 100;

/**
 * `parley tokens --config file`: counts the tokens of all servers of a file, which is the cost for a host that starts
 * all of them.
 */
export const reportConfigTokens: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const file = options.text("config") ?? "";
  if (options.flag("compare")) throw new UsageError("--compare measures one server", "Name a server of the file.");
  const names = Object.keys(readConfigServers(resolve(terminal.io.cwd, file), terminal.io).servers);
  if (names.length === 0) throw new UsageError(`${file} has no servers`, "Name a file with `mcpServers`.");
  if (names.length > MAX_SERVERS) {
    throw new UsageError(
      `${file} has ${names.length} servers`,
      `Name one of them. At most ${MAX_SERVERS} are measured at once.`,
    );
  }
  const budget = options.count("budget", 1);
  const count = await loadTokenizer();
  const measured: ConfiguredCosts[] = [];
  // Sequential, because starting every program of a large file at once could overload the machine.
  for (const server of names) measured.push(await measure(server, invocation, count));
  measured.sort((a, b) => (b.costs?.sum ?? -1) - (a.costs?.sum ?? -1) || (a.server < b.server ? -1 : 1));
  const sum = measured.reduce((total, { costs }) => total + (costs?.sum ?? 0), 0);
  const exceeded = budget !== undefined && sum > budget;
  if (terminal.json) {
    const limit = budget === undefined ? {} : { budget, exceeded };
    const servers = measured.map(({ server, costs, failure }) => ({
      server,
      ...costs,
      ...(failure && { error: failure }),
    }));
    terminal.printJson({ tokenizer: TOKENIZERS[0], sum, ...limit, servers });
  } else printServers(measured, sum, budget, terminal);
  if (exceeded) return EXIT.findings;
  return measured.some(({ failure }) => failure !== undefined) ? EXIT.unreachable : EXIT.ok;
};

/** Measures one server. A failure is part of the result, so that the other servers are still measured. */
async function measure(server: string, invocation: Invocation, count: CountTokens): Promise<ConfiguredCosts> {
  const { signal } = invocation.terminal.io;
  try {
    const [target] = await resolveTarget({ ...invocation, words: [server] });
    await using client = await openTarget(target, invocation, DECLINE_QUESTIONS);
    return { server, costs: await serverCosts(client, count, signal) };
  } catch (reason) {
    if (signal.aborted || !(McpError.is(reason) || reason instanceof UsageError)) throw reason;
    return { server, failure: reason.message };
  }
}

function printServers(
  measured: readonly ConfiguredCosts[],
  sum: number,
  budget: number | undefined,
  terminal: Terminal,
): void {
  const { bold, dim, red } = terminal.style;
  const tools = measured.reduce((total, { costs }) => total + (costs?.tools.length ?? 0), 0);
  const rows = measured.map(({ server, costs, failure = "" }): Showable[] =>
    costs === undefined
      ? [red("unknown".padStart(8)), "", show`${server}: ${failure}`]
      : [withCommas(costs.sum).padStart(8), withCommas(costs.tools.length).padStart(5), server],
  );
  terminal.printTable([
    [dim("  tokens"), dim("tools"), dim("server")],
    ...rows,
    [
      bold(withCommas(sum).padStart(8)),
      bold(withCommas(tools).padStart(5)),
      bold(`sum of ${counted(measured.length, "server")}`),
    ],
  ]);
  terminal.print(dim(`counted with ${TOKENIZERS[0]}, as JSON function definitions`));
  if (budget !== undefined) printTokenBudget(sum, budget, terminal);
}
