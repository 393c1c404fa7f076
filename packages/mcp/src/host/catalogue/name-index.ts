import { McpError } from "../../protocol/error.js";
import { type InnerName, type OuterNameOptions, outerName } from "./outer-names.js";

/** Bounds memory when servers list without end. */
const MOST_NAMES = 100_000;

/** All outer names of one kind, such as tools, with the server and the name that each stands for. */
export class NameIndex {
  readonly #options: OuterNameOptions;
  readonly #inner = new Map<string, InnerName>();
  readonly #byServer = new Map<string, string[]>();

  constructor(options: OuterNameOptions = {}) {
    this.#options = options;
  }

  get size(): number {
    return this.#inner.size;
  }

  /**
   * Sets the names of a server in place of those it had, and returns the outer name of each. A name is absent from the result
   * if another pair has its outer name already, which only a server that seeks such a name can bring about.
   * Throws `limit_exceeded` beyond 100,000 names; the server then has none.
   */
  replace(server: string, names: Iterable<string>): ReadonlyMap<string, string> {
    this.remove(server);
    const outer = new Map<string, string>();
    for (const name of names) {
      if (outer.has(name)) continue;
      const full = outerName(server, name, this.#options);
      if (this.#inner.has(full)) continue;
      if (this.#inner.size >= MOST_NAMES) {
        this.#byServer.set(server, [...outer.values()]);
        this.remove(server);
        throw new McpError("limit_exceeded", `the servers of the host have more than ${MOST_NAMES} names`, {
          fix: "Connect fewer servers, or hide tools with a filter.",
        });
      }
      this.#inner.set(full, { server, name });
      outer.set(name, full);
    }
    this.#byServer.set(server, [...outer.values()]);
    return outer;
  }

  /** Removes all names of a server. */
  remove(server: string): void {
    for (const outer of this.#byServer.get(server) ?? []) this.#inner.delete(outer);
    this.#byServer.delete(server);
  }

  /** What an outer name stands for; undefined if no server has it now. */
  find(outer: string): InnerName | undefined {
    return this.#inner.get(outer);
  }
}
