import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** Why there can be no screen here; undefined where there can. */
export const noScreen: string | undefined =
  spawnSync("tmux", ["-V"]).status === 0 ? undefined : "tmux is not installed (scripts/system-packages.sh installs it)";

/** How a program is shown. */
export interface ScreenOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Bounds of the wait for something to appear. */
const POLL_MS = 25;
const MOST_POLLS = 2_400;

const CONFIG = [
  "set -g default-shell /bin/sh",
  "set -g remain-on-exit on",
  "set -g remain-on-exit-format ''",
  "set -g default-terminal xterm-256color",
  "set -sg escape-time 0",
].join("\n");

let opened = 0;

/** A program on a real pseudo-terminal, by a tmux of its own: what it shows, and keys for it. Close it. */
export class Screen implements AsyncDisposable {
  readonly #socket: string;
  readonly #folder: string;

  constructor(program: readonly string[], { columns = 100, rows = 40, cwd, env = {} }: ScreenOptions = {}) {
    this.#socket = `parley-${process.pid}-${++opened}`;
    this.#folder = mkdtempSync(join(tmpdir(), "parley-screen-"));
    const config = join(this.#folder, "tmux.conf");
    // A pane that stays shows what a program wrote last.
    writeFileSync(config, CONFIG);
    // By a program of its own: tmux would take PATH from its client.
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const started = ["env", ...variables, ...program].map(quoted).join(" ");
    const folder = cwd === undefined ? [] : ["-c", cwd];
    // Nothing is run before its bytes are written down: `read` waits for the first line. Ctrl-C is for the program alone. The exit
    // code goes to a file, because tmux loses that of a program that ends while it looks elsewhere.
    const code = quoted(this.#code);
    const line = `read -r _; clear; trap : INT; ${started}; echo $? > ${code}.new; mv ${code}.new ${code}`;
    this.#tmux("-f", config, "new-session", "-d", "-x", `${columns}`, "-y", `${rows}`, ...folder, line);
    this.#tmux("pipe-pane", `cat >> ${quoted(join(this.#folder, "bytes"))}`);
    this.press("Enter");
  }

  /** What is on the screen now, without colours. */
  text(): string {
    return this.#tmux("capture-pane", "-p", "-J").trimEnd();
  }

  /** Everything that was written to the terminal, byte by byte. */
  bytes(): Buffer {
    return readFileSync(join(this.#folder, "bytes"));
  }

  /** Waits until the screen shows this, and returns the screen. Rejects with what it shows instead. */
  async shows(wanted: string | RegExp): Promise<string> {
    let text = "";
    for (let poll = 0; poll < MOST_POLLS; poll++) {
      text = this.text();
      if (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text)) return text;
      await wait(POLL_MS);
    }
    throw new Error(`the screen never showed ${wanted}; it shows:\n${text}`);
  }

  /** Types letters as they are. */
  type(text: string): void {
    this.#tmux("send-keys", "-l", text);
  }

  /** Presses keys by their names in tmux: `Enter`, `Escape`, `Down`, `Space`, `C-c`. */
  press(...keys: readonly string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  get hasEnded(): boolean {
    return existsSync(this.#code);
  }

  /** Waits until the program has ended, and returns its exit code. */
  async ended(): Promise<number> {
    for (let poll = 0; poll < MOST_POLLS; poll++) {
      if (this.hasEnded) return Number(readFileSync(this.#code, "utf8"));
      await wait(POLL_MS);
    }
    throw new Error(`the program does not end; the screen shows:\n${this.text()}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    spawnSync("tmux", ["-L", this.#socket, "kill-server"], { stdio: "ignore", env: this.#env() });
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #code(): string {
    return join(this.#folder, "code");
  }

  /** The socket is in the folder that is removed, and no tmux around this one is touched. */
  #env(): NodeJS.ProcessEnv {
    return { ...process.env, TMUX: undefined, TMUX_TMPDIR: this.#folder };
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync("tmux", ["-L", this.#socket, ...args], { encoding: "utf8", env: this.#env() });
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
