import { printableLine } from "../../encoding/printable.js";

/** A part of a configuration that cannot be used. Its texts never contain a value of the configuration. */
export interface ConfigProblem {
  /** `error`: the server, or the whole file, cannot be used. `warning`: only a field is ignored. */
  readonly severity: "error" | "warning";
  /** The name of the affected server; absent for problems of the whole file. */
  readonly server?: string | undefined;
  /** The path of the affected field, such as `servers.github.headers.Authorization`; empty for the whole file. */
  readonly path: string;
  /** The problem, in one sentence. */
  readonly message: string;
  /** The change that solves the problem, in one sentence. */
  readonly fix: string;
}

/** Maximum length of names of servers, variables and headers in messages. Longer names are cut. */
const MAX_SHOWN_NAME = 80;
/** Maximum number of listed problems. Further ones are only counted. */
const MAX_PROBLEMS = 1000;

/** Returns a name in a form that is safe to print inside of a sentence. */
export function shownName(name: string): string {
  return printableLine(name.length > MAX_SHOWN_NAME ? `${name.slice(0, MAX_SHOWN_NAME)}…` : name);
}

/** Collects the problems of one configuration. */
export class ProblemList {
  readonly #found: ConfigProblem[] = [];
  #left = 0;

  /** Adds a problem at a path of keys. */
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
    const message = `${this.#left} more problems are not listed`;
    return [...this.#found, { severity: "warning", path: "", message, fix: "Fix the listed problems first." }];
  }
}
