// Runs every trial with a function that throws or rejects, as the first argument says, and prints one line for each. Nothing
// here catches what the library lets through: a process that dies names the trial by what it printed last.
import { serveStdio } from "@parley/mcp/node";
import { ANSWER_TRIALS } from "./answer-trials.js";
import { HOOK_TRIALS } from "./hook-trials.js";
import { type Failing, plainServer } from "./trial.js";

const FAILING: Readonly<Record<string, Failing>> = {
  throws: () => {
    throw new Error("boom");
  },
  // Safe: what is asked of `Failing` is that it fits everywhere, and a promise is what a careless program returns.
  rejects: (() => Promise.reject(new Error("boom"))) as unknown as Failing,
};

const [, , command = "", mode = ""] = process.argv;
if (command === "serve") serve();
else await runAll(FAILING[command] ?? FAILING["throws"]);

function serve(): void {
  const onFault = FAILING[mode];
  if (onFault === undefined) console.error("a line on stderr");
  serveStdio(plainServer(), onFault === undefined ? {} : { onFault });
}

async function runAll(fail: Failing | undefined): Promise<void> {
  if (fail === undefined) return;
  const answers = Object.entries(ANSWER_TRIALS).map(([name, [trial]]) => [name, trial] as const);
  const real = process.stderr.write.bind(process.stderr);
  for (const [name, trial] of [...Object.entries(HOOK_TRIALS), ...answers]) {
    const warnings: string[] = [];
    process.stderr.write = (text: string | Uint8Array) => {
      warnings.push(String(text));
      return true;
    };
    process.stdout.write(`${JSON.stringify({ begun: name })}\n`);
    // It holds the process while a trial waits for a timer of the library, which does not.
    const late = new Promise<string>((resolve) => setTimeout(resolve, 60_000, "nothing within a minute"));
    const ended = await Promise.race([trial(fail), late]);
    // Long enough for the runtime to notice a rejection that nobody handles.
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.stderr.write = real;
    process.stdout.write(`${JSON.stringify({ name, ended, warnings })}\n`);
  }
  process.exit(0);
}
