import { printableLine } from "../../encoding/printable.js";

/** Something in a configuration that cannot be used as it is. No text of it ever holds a value of the configuration. */
export interface ConfigProblem {
  /** `error`: the server is disabled. `warning`: the field is ignored. */
  readonly severity: "error" | "warning";
  /** The server that it concerns; absent if it concerns the whole file. */
  readonly server?: string | undefined;
  /** Where it is, for example `servers.github.headers.Authorization`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
  /** What to change, in one sentence. */
  readonly fix: string;
}

/** Names of servers, variables and headers longer than this are cut in messages. */
const MAX_SHOWN_NAME = 80;
/** Problems beyond this many are counted but not kept. */
const MAX_PROBLEMS = 1000;

/** A name for the middle of a sentence. */
export function shownName(name: string): string {
  return printableLine(name.length > MAX_SHOWN_NAME ? `${name.slice(0, MAX_SHOWN_NAME)}…` : name);
}

/** Collects problems of one reading. */
export class ProblemList {
  readonly #found: ConfigProblem[] = [];
  #left = 0;

  /** Notes a problem at a path of names. */
  add(
    severity: ConfigProblem["severity"],
    path: readonly string[],
    server: string | undefined,
    message: string,
    fix: string,
  ): void {
    if (this.#found.length >= MAX_PROBLEMS) {
      this.#left++;
      return;
    }
    const at = path.map(shownName).join(".");
    this.#found.push({ severity, ...(server === undefined ? {} : { server }), path: at, message, fix });
  }

  all(): ConfigProblem[] {
    if (this.#left === 0) return this.#found;
    const message = `${this.#left} further problems are not listed`;
    return [...this.#found, { severity: "warning", path: "", message, fix: "Correct those that are listed first." }];
  }
}
