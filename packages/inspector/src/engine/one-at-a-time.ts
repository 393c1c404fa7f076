import { McpError } from "@parley/mcp/protocol";

/**
 * Allows one run at a time, for work that needs much memory or runs tools. Rejects a second run with `limit_exceeded`.
 */
export class OneAtATime {
  readonly #what: string;
  #running = false;

  /** `what` names the running work in the error, such as `another replay`. */
  constructor(what: string) {
    this.#what = what;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running) {
      throw new McpError("limit_exceeded", `${this.#what} is running`, { fix: "Wait until it has ended." });
    }
    this.#running = true;
    try {
      return await work();
    } finally {
      this.#running = false;
    }
  }
}
