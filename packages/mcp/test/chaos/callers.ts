import { McpError } from "@parley/mcp";
import type { CallToolResult } from "@parley/mcp/protocol";
import type { Ledger } from "./ledger.js";

/** Calls a tool by the name that it has in the catalogue of the host. */
export type CallTool = (name: string, args: { id: number }) => Promise<CallToolResult>;

/** What callers need to know. */
export interface CallersOptions {
  readonly ledger: Ledger;
  readonly servers: readonly string[];
  readonly random: () => number;
  /** Rest of each caller between two calls. */
  readonly restMs: number;
  /** A call was answered that began `begunAt`. */
  readonly answered: (server: string, begunAt: number) => void;
}

/** Callers that go on calling, each one call after the other, whatever becomes of the calls. */
export class Callers {
  readonly #options: CallersOptions;
  readonly #running: Promise<void>[] = [];
  #stopped = false;

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  add(call: CallTool): void {
    this.#running.push(this.#run(call));
  }

  /** Makes no further calls; resolves when the last has its outcome. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }

  async #run(call: CallTool): Promise<void> {
    const { ledger, servers, random, restMs } = this.#options;
    while (!this.#stopped && !ledger.isFull) {
      const server = servers[Math.floor(random() * servers.length)] ?? "";
      const repeatable = random() < 0.5;
      await this.#call(call, server, repeatable ? "read" : "write", ledger.begin(repeatable));
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }

  async #call(call: CallTool, server: string, tool: string, id: number): Promise<void> {
    const { ledger, answered } = this.#options;
    const begunAt = performance.now();
    try {
      const { content, isError } = await call(`${server}__${tool}`, { id });
      const [block] = content;
      const text = block?.type === "text" ? block.text : "";
      if (isError === true) ledger.refuse(id, "tool_error");
      else {
        ledger.answer(id, text === `${tool} ${id}`);
        answered(server, begunAt);
      }
    } catch (error) {
      if (isLeftToDeadline(error)) ledger.giveUp(id);
      else ledger.refuse(id, McpError.is(error) ? error.kind : String(error));
    }
  }
}

/** A server that is not ready in time is said to be so; any other deadline means that nobody said anything. */
function isLeftToDeadline(error: unknown): boolean {
  if (!McpError.is(error) || error.kind !== "timeout" || error.remote) return false;
  return (error.data as { limit?: unknown } | undefined)?.limit !== "waitMs";
}
