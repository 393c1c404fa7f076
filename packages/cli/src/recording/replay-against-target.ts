import {
  type Recording,
  type ReplayVerdict,
  replayRecording,
  requestLine,
  type SkipReason,
} from "@parley/mcp/recording";
import type { Invocation } from "../commands/command.js";
import { openTarget } from "../target/open-target.js";
import { resolveTarget } from "../target/target.js";
import { EXIT, type ExitCode } from "../terminal/exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";
import { recordingUsage } from "./recording-usage.js";

/** Sends the requests of a recording to a server in order, and reports answers that differ. */
export async function replayAgainstTarget(recording: Recording, invocation: Invocation): Promise<ExitCode> {
  const { options, terminal } = invocation;
  const against = options.text("against");
  const [target] = await resolveTarget({ ...invocation, words: against === undefined ? [] : [against] });
  const verdicts = await recordingUsage(() =>
    replayRecording(recording, (more) => openTarget(target, invocation, more), {
      all: options.flag("all"),
      ignore: options.many("ignore"),
      signal: terminal.io.signal,
      onVerdict: (verdict) => {
        if (!terminal.json) printVerdict(verdict, terminal);
      },
    }),
  );
  return summarize(verdicts, terminal);
}

/** Reasons for skipping a request, as text. */
const REASONS: Readonly<Record<SkipReason, string>> = {
  redacted: "its parameters were redacted",
  may_change: "the tool may change something; use --all to call it",
};

function printVerdict({ method, params, verdict, reason, differences }: ReplayVerdict, terminal: Terminal): void {
  const { style } = terminal;
  const colour = { same: style.green, different: style.red, skipped: style.yellow }[verdict];
  terminal.print(show`${colour(verdict.padEnd(9))}  ${requestLine(method, params)}`);
  if (reason !== undefined) terminal.print(show`           ${style.dim(REASONS[reason])}`);
  for (const { path, recorded, now } of differences) {
    terminal.print(show`           ${style.bold(path === "" ? "the result" : path)}`);
    terminal.print(show`           ${style.red("-")} ${shortJson(recorded)}`);
    terminal.print(show`           ${style.green("+")} ${shortJson(now)}`);
  }
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "(missing)";
  return text.length > 500 ? `${text.slice(0, 499)}…` : text;
}

function summarize(verdicts: readonly ReplayVerdict[], terminal: Terminal): ExitCode {
  const count = (wanted: ReplayVerdict["verdict"]) => verdicts.filter(({ verdict }) => verdict === wanted).length;
  const [same, different, skipped] = [count("same"), count("different"), count("skipped")];
  const requests = verdicts.map((verdict) =>
    verdict.reason === undefined ? verdict : { ...verdict, reason: REASONS[verdict.reason] },
  );
  if (terminal.json) terminal.printJson({ same, different, skipped, requests });
  else terminal.print(show`${same} same, ${different} different, ${skipped} skipped`);
  return different === 0 ? EXIT.ok : EXIT.findings;
}
