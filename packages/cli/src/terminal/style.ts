import { styleText } from "node:util";
import type { Io, Output } from "./io.js";
import { type Showable, showLine, TerminalText } from "./terminal-text.js";

type Format = Parameters<typeof styleText>[0];

/** Colours for one stream: present on a terminal that wants them, absent everywhere else. */
export class Style {
  readonly #on: boolean;

  constructor(on: boolean) {
    this.#on = on;
  }

  /** What the user and the stream say about colours: https://no-color.org and `FORCE_COLOR`. */
  static of(stream: Output, env: Io["env"]): Style {
    if ((env["NO_COLOR"] ?? "") !== "") return new Style(false);
    if ((env["FORCE_COLOR"] ?? "") !== "") return new Style(env["FORCE_COLOR"] !== "0");
    return new Style(stream.isTTY === true && env["TERM"] !== "dumb");
  }

  bold = (value: Showable): TerminalText => this.#apply("bold", value);
  dim = (value: Showable): TerminalText => this.#apply("dim", value);
  red = (value: Showable): TerminalText => this.#apply("red", value);
  green = (value: Showable): TerminalText => this.#apply("green", value);
  yellow = (value: Showable): TerminalText => this.#apply("yellow", value);
  cyan = (value: Showable): TerminalText => this.#apply("cyan", value);

  #apply(format: Format, value: Showable): TerminalText {
    const { text, plain } = showLine(value);
    // The decision about colours was made above; Node would ask its own streams.
    return new TerminalText(this.#on ? styleText(format, text, { validateStream: false }) : text, plain);
  }
}
