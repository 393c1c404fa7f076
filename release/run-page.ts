import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import {
  consoleExamples,
  type Example,
  type FencedBlock,
  fencedBlocks,
  outputPattern,
  shellExamples,
} from "../docs/fenced-blocks.js";

// Runs a page as a reader would: its blocks in order, line by line, beginning in an empty folder.
//
//   ```sh                   commands, one per line, each run by bash; `cd` holds for the lines after it
//   ```console              commands after `$ `, and the output that each must print; `…` stands for any text or lines
//   ```ts file=server.ts    a file, in the folder that is current by then; any language
//   ```json shown           a block that is not run
//   ```sh node>=22.18       a block for some versions of Node only; also `node<22.18`
//   ```console background   a program that goes on running. It must print an address that answers. It is ended by Ctrl-C after
//                           the last block. It gets a free port, which replaces the one that the page names.
//
// A command exits with 0, unless `# exits 2` follows it. A block that is neither run, written nor marked fails the page.

/** A page to run. */
export interface RunPageOptions {
  /** The path of the page. */
  readonly page: string;
  /** The folder to begin in. */
  readonly folder: string;
  /** The environment of the commands. */
  readonly env: Readonly<Record<string, string>>;
  /** The Node that `node`, `npm` and `npx` use. Default: the one that runs this program. */
  readonly node?: string;
  /** The longest time for one command. Default: 5 minutes, so that a slow installation is not an error. */
  readonly limitMs?: number;
}

/** A command that was run. */
export interface PageStep {
  readonly line: number;
  readonly command: string;
  readonly printed: string;
}

const LIMIT_MS = 300_000;
/** Time to end after Ctrl-C. Default: 20 s, so that a busy machine is not an error. */
const END_MS = 20_000;
const ADDRESS = /https?:\/\/(?:127\.0\.0\.1|localhost):\d+/;

/** Runs the blocks of a page; rejects with the line, the command and the output of the first one that fails. */
export async function runPage(options: RunPageOptions): Promise<PageStep[]> {
  const { page, node = process.execPath } = options;
  const shell = new PageShell(options);
  try {
    const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
    for (const block of fencedBlocks(readFileSync(page, "utf8"))) {
      const words = wordsOf(block, page);
      if (words.shown || !words.versions.every((range) => includes(range, version))) continue;
      if (words.file !== undefined) shell.write(words.file, block.text);
      else if (words.background) for (const example of examplesOf(block)) await shell.start(example);
      else for (const example of examplesOf(block)) await shell.run(example);
    }
    await shell.endPrograms();
    return shell.steps;
  } finally {
    shell.close();
  }
}

interface BlockWords {
  readonly shown: boolean;
  readonly background: boolean;
  readonly file: string | undefined;
  readonly versions: readonly string[];
}

function wordsOf({ language, words, line }: FencedBlock, page: string): BlockWords {
  const versions = words.filter((word) => /^node(>=|<)\d+(\.\d+)*$/.test(word));
  const file = words.map((word) => /^(?:file|program)=(.+)$/.exec(word)?.[1]).find((name) => name !== undefined);
  const [shown, background] = [words.includes("shown"), words.includes("background")];
  const known = versions.length + Number(file !== undefined) + Number(shown) + Number(background);
  if (known < words.length) throw new Error(`${page}:${line}: unknown words in "${language} ${words.join(" ")}"`);
  const isRun = language === "sh" || language === "console";
  if (!shown && !isRun && file === undefined) {
    throw new Error(`${page}:${line}: this block is not run; fix: Name its file by \`file=\`, or mark it \`shown\`.`);
  }
  return { shown, background, file, versions };
}

function examplesOf(block: FencedBlock): Example[] {
  return block.language === "console" ? consoleExamples(block) : shellExamples(block);
}

/** True if a version such as `v24.1.0` is in a range such as `node>=22.18`. */
function includes(range: string, version: string): boolean {
  const [, operator, bound = ""] = /^node(>=|<)(.+)$/.exec(range) ?? [];
  const order = version.replace(/^v/, "").localeCompare(bound, "en", { numeric: true });
  return operator === "<" ? order < 0 : order >= 0;
}

interface Started {
  readonly child: ChildProcess;
  readonly example: Example;
  /** The output so far. */
  printed: string;
}

/** The shell in which a page is run: its current folder, and the programs that it has started. */
class PageShell {
  readonly steps: PageStep[] = [];
  readonly #page: string;
  readonly #env: Record<string, string>;
  readonly #limitMs: number;
  /** Holds the chosen Node, and the file to which commands write their last folder. */
  readonly #own = mkdtempSync(join(tmpdir(), "parley-page-"));
  readonly #programs: Started[] = [];
  /** From an address on the page to the one in use. */
  readonly #addresses = new Map<string, string>();
  #folder: string;

  constructor({ page, folder, env, node = process.execPath, limitMs = LIMIT_MS }: RunPageOptions) {
    this.#page = page;
    this.#folder = folder;
    this.#limitMs = limitMs;
    symlinkSync(node, join(this.#own, "node"));
    this.#env = { ...env, PATH: [this.#own, env["PATH"]].join(delimiter), PAGE_FOLDER: join(this.#own, "folder") };
  }

  write(name: string, text: string): void {
    const file = resolve(this.#folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  async run(example: Example): Promise<void> {
    const started = this.#spawn(example, this.#env);
    const isEnded = await within(once(started.child, "close"), this.#limitMs);
    kill(started.child, "SIGKILL");
    const printed = this.#asOnPage(started.printed);
    if (!isEnded) throw this.#failure(example, `did not end within ${this.#limitMs / 1000} s`, printed);
    const { exitCode, signalCode } = started.child;
    if (exitCode !== example.code) {
      throw this.#failure(example, `ended with ${exitCode ?? signalCode} instead of ${example.code}`, printed);
    }
    if (example.printed.length > 0 && !outputPattern(example.printed).test(printed)) {
      throw this.#failure(example, "printed something else than the page shows", printed);
    }
    this.#folder = readFileSync(join(this.#own, "folder"), "utf8").trim();
    this.steps.push({ line: example.line, command: example.command, printed });
  }

  /** Starts a program, and resolves when it has printed what the page shows and its address answers. */
  async start(example: Example): Promise<void> {
    const started = this.#spawn(example, { ...this.#env, PORT: "0" });
    this.#programs.push(started);
    const isStarted = await within(this.#untilPrinted(started), this.#limitMs);
    if (!isStarted) throw this.#failure(example, `printed no address as on the page within ${this.#limitMs / 1000} s`);
    const address = /https?:\/\/\S+/.exec(started.printed)?.[0] ?? "";
    const answer = await fetch(address, { signal: AbortSignal.timeout(this.#limitMs) }).catch(
      (error: unknown) => error,
    );
    if (!(answer instanceof Response)) throw this.#failure(example, `does not answer at ${address}: ${answer}`);
    await answer.body?.cancel();
    if (answer.status >= 500) throw this.#failure(example, `answers ${answer.status} at ${address}`);
    this.steps.push({ line: example.line, command: example.command, printed: this.#asOnPage(started.printed) });
  }

  /** Ends the background programs as Ctrl-C in a terminal does; rejects if one has ended before, or does not end. */
  async endPrograms(): Promise<void> {
    for (const { child, example } of this.#programs) {
      if (hasEnded(child)) throw this.#failure(example, `ended with ${child.exitCode} before the page did`);
      const ended = once(child, "close");
      kill(child, "SIGINT");
      if (!(await within(ended, END_MS))) throw this.#failure(example, "does not end on Ctrl-C");
    }
  }

  /** Kills the remaining programs. */
  close(): void {
    for (const { child } of this.#programs) kill(child, "SIGKILL");
    rmSync(this.#own, { recursive: true, force: true });
  }

  #spawn(example: Example, env: Record<string, string>): Started {
    let { command } = example;
    for (const [shown, used] of this.#addresses) command = command.replaceAll(shown, used);
    // One stream keeps the order of the output. The trap reports the folder even if the command fails.
    const script = `exec 2>&1\ntrap 'pwd >"$PAGE_FOLDER"' EXIT\n${command}`;
    // A process group of its own, so that everything that the command starts can be ended.
    const child = spawn("bash", ["-c", script], {
      cwd: this.#folder,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const started: Started = { child, example, printed: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      started.printed += text;
    });
    return started;
  }

  async #untilPrinted(started: Started): Promise<void> {
    const { child, example } = started;
    const shown = example.printed.map((line) => ADDRESS.exec(line)?.[0]).find((address) => address !== undefined);
    const ended = once(child, "close").then(() => {
      throw this.#failure(example, `ended with ${child.exitCode} instead of serving`, started.printed);
    });
    // The program ends later, when it is stopped.
    ended.catch(() => {});
    for (;;) {
      const used = ADDRESS.exec(started.printed)?.[0];
      if (used !== undefined && shown !== undefined) this.#addresses.set(shown, used);
      const isPrinted =
        example.printed.length === 0 || outputPattern(example.printed).test(this.#asOnPage(started.printed));
      if (used !== undefined && isPrinted && started.printed.endsWith("\n")) return;
      await Promise.race([once(child.stdout ?? child, "data"), ended]);
    }
  }

  #asOnPage(printed: string): string {
    let text = printed;
    for (const [shown, used] of this.#addresses) text = text.replaceAll(used, shown);
    return text;
  }

  #failure({ line, command }: Example, what: string, printed = this.#programs.at(-1)?.printed ?? ""): Error {
    return new Error(`${this.#page}:${line}: \`${command}\` ${what}\n${printed.trimEnd() || "(no output)"}`);
  }
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

/** Signals the process group of a child, which may outlive the child itself. */
function kill({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/** True if the promise resolves in time. */
async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  // Rejections after the time has passed are not reported.
  promise.catch(() => {});
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
