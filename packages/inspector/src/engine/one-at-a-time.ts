import { McpError } from "@parley/mcp/protocol";

/** Lets work that takes memory or runs tools happen once at a time. Rejects the second with `limit_exceeded`. */
export class OneAtATime {
  readonly #what: string;
  #running = false;

  /** `what` is said of the work that is under way, such as `another replay`. */
  constructor(what: string) {
    this.#what = what;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running) {
      throw new McpError("limit_exceeded", `${this.#what} is under way`, { fix: "Wait until it has ended." });
    }
    this.#running = true;
    try {
      return await work();
    } finally {
      this.#running = false;
    }
  }
}
