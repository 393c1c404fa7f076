import type { Terminal } from "../terminal/terminal.js";
import { showLine, type TerminalText } from "../terminal/terminal-text.js";

/** One option to choose from. */
export interface SelectOption<T> {
  readonly value: T;
  readonly label: TerminalText;
  readonly hint?: TerminalText | undefined;
}

/**
 * Asks the user on the terminal. Every text is a `TerminalText`, so a server cannot inject control characters. Each
 * method returns undefined if the user leaves the question (Escape, Ctrl-C) or the signal is aborted.
 */
export interface Prompter {
  choose<T>(message: TerminalText, options: readonly SelectOption<T>[], initial?: T): Promise<T | undefined>;
  chooseSome<T>(
    message: TerminalText,
    options: readonly SelectOption<T>[],
    initial: readonly T[],
    required: boolean,
  ): Promise<T[] | undefined>;
  /**
   * Asks for a line of text. Empty input returns `preset`. `problem` returns the reason for rejecting an input.
   * `isSecret` masks the input.
   */
  write(
    message: TerminalText,
    preset: TerminalText | undefined,
    problem: (text: string) => string | undefined,
    isSecret?: boolean,
  ): Promise<string | undefined>;
}

/** Asks one question at a time. Concurrent questions wait until the terminal is free. */
export class QuestionQueue {
  readonly #terminal: Terminal;
  #last: Promise<unknown> = Promise.resolve();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Runs `ask` as soon as no other question is open. */
  ask<T>(signal: AbortSignal, ask: (prompter: Prompter) => Promise<T>): Promise<T> {
    const turn = this.#last.then(async () => {
      const prompter = await openPrompter(this.#terminal, signal);
      return this.#terminal.status.hideWhile(() => ask(prompter));
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** Imports the prompt library on first use, because most commands ask nothing. */
async function openPrompter({ io }: Terminal, signal: AbortSignal): Promise<Prompter> {
  const { isCancel, multiselect, password, select, text } = await import("@clack/prompts");
  const common = { input: io.stdin, output: io.stderr, signal };
  const given = <T>(value: T | symbol): T | undefined => (isCancel(value) ? undefined : (value as T));
  // The prompt library compares values by identity, so each value is represented by its index.
  const rows = <T>(options: readonly SelectOption<T>[]) =>
    options.map(({ label, hint }, value) => ({
      value,
      label: label.text,
      ...(hint === undefined ? {} : { hint: hint.text }),
    }));
  return {
    async choose<T>(message: TerminalText, options: readonly SelectOption<T>[], initial?: T) {
      const at = options.findIndex(({ value }) => value === initial);
      const chosen = given<number>(
        await select({ ...common, message: message.text, options: rows(options), initialValue: Math.max(0, at) }),
      );
      return chosen === undefined ? undefined : options[chosen]?.value;
    },
    async chooseSome<T>(
      message: TerminalText,
      options: readonly SelectOption<T>[],
      initial: readonly T[],
      required: boolean,
    ) {
      const initialValues = options.flatMap(({ value }, at) => (initial.includes(value) ? [at] : []));
      const chosen = given<number[]>(
        await multiselect({ ...common, message: message.text, options: rows(options), initialValues, required }),
      );
      return chosen?.flatMap((at) => options.slice(at, at + 1).map(({ value }) => value));
    },
    async write(message, preset, problem, isSecret = false) {
      const validate = (written: string | undefined) => {
        const found = problem(written ?? "");
        // A problem may quote the server's schema, so escape it.
        return found === undefined ? undefined : showLine(found).text;
      };
      if (isSecret) return given<string>(await password({ ...common, message: message.text, validate }));
      const presets = preset === undefined ? {} : { placeholder: preset.text, defaultValue: preset.text };
      return given<string>(await text({ ...common, message: message.text, ...presets, validate }));
    },
  };
}
