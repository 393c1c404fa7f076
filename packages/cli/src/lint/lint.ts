import { McpError } from "@parley/mcp";
import { type Finding, LINT_RULES, type LintOptions, lintTools, type Severity } from "@parley/mcp/lint";
import type { CommandRun, Invocation } from "../commands/command.js";
import { DECLINE_QUESTIONS } from "../target/decline-questions.js";
import { openTarget } from "../target/open-target.js";
import { resolveTarget } from "../target/target.js";
import { EXIT } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { show, type TerminalText } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { loadTokenizer } from "../tokens/token-counter.js";

/** `parley lint`: checks the tool definitions of a server. */
export const lint: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  if (options.flag("rules")) return printRules(terminal);
  const chosen = await lintOptions(invocation);
  const [target, [extra]] = await resolveTarget(invocation);
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`, "Name one server.");
  await using client = await openTarget(target, invocation, DECLINE_QUESTIONS);
  const tools = client.serverCapabilities.tools === undefined ? [] : await client.allTools();
  const findings = lintTools(tools, chosen);
  const counts = countsOf(findings);
  if (terminal.json) terminal.printJson({ server: client.serverInfo, tools: tools.length, counts, findings });
  else printFindings(terminal, findings, tools.length);
  return counts.error > 0 || (options.flag("strict") && counts.warning > 0) ? EXIT.findings : EXIT.ok;
};

async function lintOptions({ options }: Invocation): Promise<LintOptions> {
  const [only, ignore] = [options.many("rule"), options.many("ignore")];
  const chosen: LintOptions = { ...(only.length === 0 ? {} : { only }), ignore };
  try {
    // Called without tools before connecting, only to reject unknown rules as usage errors.
    lintTools([], chosen);
  } catch (reason) {
    const { message, fix } = McpError.from(reason);
    throw new UsageError(message, fix);
  }
  const maxTokens = options.count("maxTokens", 1);
  const counts = (id: string) =>
    id.startsWith("token-") && !ignore.includes(id) && (only.length === 0 || only.includes(id));
  return {
    ...chosen,
    ...(maxTokens === undefined ? {} : { maxTokens }),
    // Loaded only for rules that count tokens, because loading takes longer than all other work.
    ...(LINT_RULES.some(({ id }) => counts(id)) ? { countTokens: await loadTokenizer() } : {}),
  };
}

function countsOf(findings: readonly Finding[]): Record<Severity, number> {
  const counts = { error: 0, warning: 0, note: 0 };
  for (const { severity } of findings) counts[severity]++;
  return counts;
}

function printRules(terminal: Terminal) {
  if (terminal.json) terminal.printJson(LINT_RULES);
  else terminal.printTable(LINT_RULES.map(({ id, severity, summary }) => [id, styled(terminal, severity), summary]));
  return EXIT.ok;
}

/** Maximum number of findings printed. `--json` prints all. */
const MAX_SHOWN_FINDINGS = 500;

function printFindings(terminal: Terminal, findings: readonly Finding[], tools: number): void {
  const { bold, dim, green } = terminal.style;
  let heading: string | undefined | null = null;
  for (const { rule, severity, tool, path, message, fix } of findings.slice(0, MAX_SHOWN_FINDINGS)) {
    if (tool !== heading) terminal.print(bold(tool ?? "all tools"));
    heading = tool;
    terminal.print(show`  ${styled(terminal, severity)} ${rule}${dim(path === undefined ? "" : `  ${path}`)}`);
    terminal.print(show`    ${message}`);
    terminal.print(show`    ${dim("fix:")} ${fix}`);
  }
  if (findings.length > MAX_SHOWN_FINDINGS)
    terminal.print(`… ${findings.length - MAX_SHOWN_FINDINGS} more; --json prints all`);
  const { error, warning, note } = countsOf(findings);
  const sum = `${plural(error, "error")}, ${plural(warning, "warning")}, ${plural(note, "note")} in ${plural(tools, "tool")}`;
  terminal.print(error + warning === 0 ? green(sum) : bold(sum));
}

function styled({ style }: Terminal, severity: Severity): TerminalText {
  return severity === "error"
    ? style.red(severity)
    : severity === "warning"
      ? style.yellow(severity)
      : style.dim(severity);
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
