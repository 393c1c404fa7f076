import { type Client, connect } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import type { CallLedger } from "./call-ledger.js";

export interface IntruderPlan {
  readonly url: string;
  readonly principal: string;
  readonly ledger: CallLedger;
  /** What belongs to others, as it happens to be known: sessions with a place in one of their streams, and tasks. */
  known(): { sessions: readonly { id: string; lastId?: string | undefined }[]; tasks: readonly string[] };
}

const REST_MS = 500;
const ANSWER_MS = 5_000;

/** Knows the names of what belongs to others, and tries to use them. */
export class Intruder {
  readonly #plan: IntruderPlan;
  #client: Client | undefined;
  tries = 0;
  admitted = 0;

  constructor(plan: IntruderPlan) {
    this.#plan = plan;
  }

  async run(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      const { sessions, tasks: ids } = this.#plan.known();
      for (const { id, lastId } of sessions) await this.#trySession(id, lastId);
      for (const id of ids) await this.#tryTask(id);
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
  }

  async leave(): Promise<void> {
    await this.#client?.close().catch(() => {});
  }

  async #trySession(session: string, lastId: string | undefined): Promise<void> {
    const args = { nonce: "stolen", steps: 1, restMs: 0 };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "look", arguments: args } };
    await this.#try("POST", session, {}, JSON.stringify(call));
    await this.#try("GET", session, lastId === undefined ? {} : { "last-event-id": lastId });
    await this.#try("DELETE", session, {});
  }

  async #try(method: string, session: string, more: Record<string, string>, body?: string): Promise<void> {
    const { url, principal, ledger } = this.#plan;
    const headers = {
      authorization: `Bearer ${principal}`,
      accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-session-id": session,
      "mcp-protocol-version": "2025-11-25",
      ...more,
    };
    this.tries++;
    try {
      const signal = AbortSignal.timeout(ANSWER_MS);
      const response = await fetch(url, { method, headers, signal, ...(body === undefined ? {} : { body }) });
      if (response.ok) {
        this.admitted++;
        ledger.problem(`${principal} could ${method} in a session of somebody else: ${response.status}`);
        await response.body?.cancel();
      } else ledger.told(principal, await response.text());
    } catch {
      // No replica answered, which gives nothing away.
    }
  }

  async #tryTask(id: string): Promise<void> {
    const { url, principal, ledger } = this.#plan;
    this.tries++;
    try {
      this.#client ??= (await connect(url, {
        revisions: ["2026-07-28"],
        extensions: [tasks()],
        headers: { authorization: `Bearer ${principal}` },
        onWarning() {},
      })) as Client;
      const answer = await this.#client.task(id).result({ timeouts: { totalMs: ANSWER_MS } });
      this.admitted++;
      ledger.problem(`${principal} was given a task of somebody else: ${String(answer)}`);
    } catch (error) {
      ledger.told(principal, String(error));
    }
  }
}
