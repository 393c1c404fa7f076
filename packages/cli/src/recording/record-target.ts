import { resolve } from "node:path";
import { type RecordedTarget, Redactor } from "@parley/mcp/recording";
import type { Invocation } from "../commands/command.js";
import type { ServerTarget } from "../target/target.js";
import { targetSecrets } from "../target/target-secrets.js";
import { show } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { Recorder } from "./recorder.js";

/**
 * Starts the recording that the command line requests. `force` replaces an existing file. Throws a `UsageError` if the
 * file cannot be created.
 */
export function recordTarget(
  target: ServerTarget,
  file: string,
  { options, terminal }: Pick<Invocation, "options" | "terminal">,
  force = false,
): Recorder {
  const redactor = redactorFor(target, { options, terminal });
  // The URL or the arguments may contain secrets, so redact them even with `--no-redact`.
  const name = (redactor ?? redactorOf(target, terminal.io.env, [])).text(addressOf(target));
  const described: RecordedTarget = { kind: target.kind, name };
  return new Recorder(resolve(terminal.io.cwd, file), {
    target: described,
    redactor,
    force,
    onNote: (note) => terminal.note(show`${terminal.noteStyle.yellow("warning: ")}${note}`),
  });
}

/** The redactor for the messages of a target. Undefined with `--no-redact`. */
function redactorFor(
  target: ServerTarget,
  { options, terminal }: Pick<Invocation, "options" | "terminal">,
): Redactor | undefined {
  if (options.isOff("redact")) return undefined;
  return redactorOf(target, terminal.io.env, options.many("redact").map(patternOf));
}

function redactorOf(
  target: ServerTarget,
  inherited: Readonly<Record<string, string | undefined>>,
  patterns: readonly RegExp[],
): Redactor {
  return new Redactor({ values: targetSecrets(target, inherited), patterns });
}

function patternOf(source: string): RegExp {
  try {
    return new RegExp(source, "gu");
  } catch {
    throw new UsageError(
      "a --redact is not a valid regular expression",
      "Write it as in JavaScript, such as --redact 'id-\\d+'.",
    );
  }
}

/** The address of the server as one text, without the query and credentials of a URL. */
function addressOf(target: ServerTarget): string {
  if (target.kind === "module") return target.name;
  if (target.kind === "command") return [target.entry.command, ...(target.entry.args ?? [])].join(" ");
  const { protocol, host, pathname } = new URL(target.entry.url);
  return `${protocol}//${host}${pathname}`;
}
