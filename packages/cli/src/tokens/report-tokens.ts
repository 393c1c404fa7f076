import type { CommandRun, Invocation } from "../commands/command.js";
import { DECLINE_QUESTIONS } from "../target/decline-questions.js";
import { openTarget } from "../target/open-target.js";
import { resolveTarget } from "../target/target.js";
import { EXIT, type ExitCode } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { type Showable, show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { readOffers } from "../typed-code/server-offers.js";
import { type ServerCosts, serverCosts } from "./server-costs.js";
import { loadTokenizer, TOKENIZERS } from "./token-counter.js";
import { counted, printTokenBudget, withCommas } from "./token-figures.js";

/** Maximum number of tools printed without `--top`. Only the sum of further tools is printed. */
const DEFAULT_TOP = 50;
/** Maximum value of `--uses`. A larger value is a usage error. */
const MAX_USES = 1_000;

/** `parley tokens`: counts the tokens of a server's definitions, and compares them with a budget. */
export const reportTokens: CommandRun = async (invocation) => {
  const { options, terminal, words, program } = invocation;
  if (words.length === 0 && program.length === 0 && options.text("config") !== undefined) {
    const { reportConfigTokens } = await import("./report-config-tokens.js");
    return reportConfigTokens(invocation);
  }
  const [target, rest] = await resolveTarget(invocation);
  if (rest[0] !== undefined) throw new UsageError(`unexpected argument "${rest[0]}"`, "Name one server.");
  const budget = options.count("budget", 1);
  const top = options.count("top", 1) ?? DEFAULT_TOP;
  const compares = options.flag("compare");
  if (compares && budget !== undefined)
    throw new UsageError("--compare and --budget cannot be combined", "Use one of them.");
  await using client = await openTarget(target, invocation, DECLINE_QUESTIONS);
  if (compares) {
    const { tools } = await readOffers(client, terminal.io.signal);
    return await compare(tools, invocation);
  }
  const costs = await serverCosts(client, await loadTokenizer(), terminal.io.signal);
  if (terminal.json) printCostsJson(costs, budget, terminal);
  else printCosts(costs, { top, budget }, terminal);
  return budget !== undefined && costs.sum > budget ? EXIT.findings : EXIT.ok;
};

function printCostsJson({ tools, sum, others }: ServerCosts, budget: number | undefined, terminal: Terminal): void {
  const limit = budget === undefined ? {} : { budget, exceeded: sum > budget };
  terminal.printJson({ tokenizer: TOKENIZERS[0], sum, ...limit, tools, others });
}

function printCosts(
  { tools, sum, others }: ServerCosts,
  { top, budget }: { top: number; budget: number | undefined },
  terminal: Terminal,
): void {
  const { bold, dim } = terminal.style;
  const shown = tools.slice(0, top);
  const hidden = tools.slice(top).reduce((total, { tokens }) => total + tokens, 0);
  const share = (tokens: number) => `${sum === 0 ? 0 : Math.round((tokens / sum) * 100)} %`.padStart(5);
  const figure = (tokens: number) => withCommas(tokens).padStart(8);
  const rows: Showable[][] = [
    [dim("  tokens"), dim("share"), dim("tool")],
    ...shown.map(({ name, tokens }) => [figure(tokens), share(tokens), name]),
  ];
  const more = tools.length - shown.length;
  if (more > 0)
    rows.push([figure(hidden), share(hidden), dim(`${counted(more, "more tool")}; --top ${tools.length} shows all`)]);
  rows.push([bold(figure(sum)), "     ", bold(`sum of ${counted(tools.length, "tool")}`)]);
  for (const { what, count, tokens } of others) {
    rows.push([
      dim(figure(tokens)),
      "     ",
      dim(what === "instructions" ? what : `list of ${counted(count, what.slice(0, -1))}`),
    ]);
  }
  terminal.printTable(rows);
  terminal.print(dim(`counted with ${TOKENIZERS[0]}, as JSON function definitions`));
  if (budget === undefined) return;
  printTokenBudget(sum, budget, terminal);
}

async function compare(
  tools: Parameters<typeof import("./pattern-costs.js").patternCosts>[0],
  { options, terminal }: Invocation,
): Promise<ExitCode> {
  const uses = options.count("uses", 1) ?? 1;
  if (uses > MAX_USES) throw new UsageError(`--uses ${uses} is too large`, `Use at most ${MAX_USES}.`);
  // Imported only here, because the import loads the host's tool search.
  const { patternCosts, savedPercent } = await import("./pattern-costs.js");
  const costs = await patternCosts(tools, await loadTokenizer(), { uses });
  if (terminal.json) {
    terminal.printJson({ tokenizer: TOKENIZERS[0], ...costs });
    return EXIT.ok;
  }
  const { dim } = terminal.style;
  const row = (tokens: number, what: string): Showable[] => {
    const saved = savedPercent(tokens, costs.direct);
    return [
      withCommas(tokens).padStart(8),
      tokens === costs.direct ? "" : `${Math.abs(saved).toFixed(1)} % ${saved < 0 ? "more" : "less"}`,
      what,
    ];
  };
  terminal.printTable([
    [dim("  tokens"), "", dim(`what a model reads for ${counted(uses, "use")} of ${counted(costs.tools, "tool")}`)],
    row(costs.direct, "all definitions, in every request"),
    row(costs.code, "generated code: all names, plus the used declarations"),
    // Omitted if all tools belong to one server, because the figures are equal.
    ...(costs.codeByServer === costs.code
      ? []
      : [row(costs.codeByServer, "generated code: names of one server, plus the used declarations")]),
    row(costs.search, "search: three tools, plus a search and a definition per use"),
  ]);
  terminal.print(show`${dim(`counted with ${TOKENIZERS[0]}; medians where tools differ`)}`);
  return EXIT.ok;
}
