import { styleText } from "node:util";
import type { Io, Output } from "./io.js";
import { type Showable, showLine, TerminalText } from "./terminal-text.js";

type Format = Parameters<typeof styleText>[0];

/** Colours for one stream. Without colours, every method returns its text unchanged. */
export class Style {
  readonly #on: boolean;

  constructor(on: boolean) {
    this.#on = on;
  }

  /** Decides by `NO_COLOR` (https://no-color.org), `FORCE_COLOR`, and whether the stream is a terminal. */
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
    // `of` has already decided whether to use colours. By default, Node would decide by its own stdout instead of the
    // given stream.
    return new TerminalText(this.#on ? styleText(format, text, { validateStream: false }) : text, plain);
  }
}
