import { type Client, connect, type Revision } from "@parley/mcp";
import { tasks } from "@parley/mcp/tasks";
import type { CallLedger, LedgerCall } from "./call-ledger.js";

export interface CallerPlan {
  readonly url: string;
  readonly principal: string;
  readonly revision: Revision;
  readonly ledger: CallLedger;
  readonly random: () => number;
}

type Tool = "look" | "charge" | "count" | "ask" | "task";

const TIMES = { connectMs: 20_000, idleMs: 20_000, totalMs: 40_000 };
const TOOLS: readonly Tool[] = ["look", "charge", "charge", "count", "ask", "task"];
const REST_MS = 150;

/** One application of a principal: calls tools as long as it may, and checks what it is told. */
export class ParleyCaller {
  readonly #plan: CallerPlan;
  client: Client | undefined;
  questions = 0;
  /** Progress that came twice, or after a number was left out. */
  gaps = 0;
  connects = 0;
  lastTask: string | undefined;

  constructor(plan: CallerPlan) {
    this.#plan = plan;
  }

  get name(): string {
    return `${this.#plan.principal} by ${this.#plan.revision}`;
  }

  async run(goesOn: () => boolean, inFlight: number): Promise<void> {
    await this.#connect(goesOn);
    const lane = async () => {
      while (goesOn() && this.client !== undefined) {
        const worked = await this.#act(this.client);
        await rest(worked ? REST_MS * this.#plan.random() : 2 * REST_MS);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
  }

  async leave(): Promise<void> {
    await this.client?.close().catch(() => {});
  }

  async #connect(goesOn: () => boolean): Promise<void> {
    const { url, principal, revision, ledger } = this.#plan;
    while (this.client === undefined && goesOn()) {
      this.connects++;
      try {
        this.client = (await connect(url, {
          revisions: [revision],
          headers: { authorization: `Bearer ${principal}` },
          timeouts: TIMES,
          onWarning() {},
          ...(revision === "2026-07-28" ? { extensions: [tasks()] } : {}),
          onElicit: ({ message }) => {
            this.questions++;
            ledger.told(principal, message);
            return { action: "accept", content: { word: `${message.split(" ")[2]}!` } };
          },
        })) as Client;
      } catch {
        await rest(REST_MS);
      }
    }
  }

  /** One call; gives whether it was answered. */
  async #act(client: Client): Promise<boolean> {
    const { principal, random, ledger, revision } = this.#plan;
    const drawn = TOOLS[Math.floor(random() * TOOLS.length)] ?? "look";
    const tool = drawn === "task" && revision !== "2026-07-28" ? "charge" : drawn;
    const call = ledger.begin(this.name, principal, tool, tool === "look");
    try {
      ledger.answered(call, tool === "task" ? await this.#runTask(client, call) : await this.#call(client, call));
      return true;
    } catch (error) {
      ledger.failed(call, error);
      return false;
    }
  }

  async #call(client: Client, { nonce, tool, principal }: LedgerCall): Promise<string> {
    const { random, ledger } = this.#plan;
    const steps = 3 + Math.floor(random() * 20);
    let heard = 0;
    const onProgress = ({ progress, message = "" }: { progress: number; message?: string | undefined }) => {
      ledger.told(principal, message);
      if (progress !== heard + 1) {
        this.gaps++;
        ledger.problem(`${nonce} of ${this.name} heard ${progress} after ${heard}`);
      }
      heard = progress;
    };
    const args = { nonce, steps, restMs: tool === "count" ? 40 : 20 + 400 * random() };
    const answer = String(await client.call(tool, args, tool === "count" ? { onProgress } : {}));
    if (tool === "count" && heard !== steps) {
      this.gaps++;
      ledger.problem(`${nonce} of ${this.name} heard ${heard} of ${steps} before its answer`);
    }
    return answer;
  }

  async #runTask(client: Client, { nonce }: LedgerCall): Promise<string> {
    const { random } = this.#plan;
    const steps = 2 + Math.floor(random() * 6);
    const started = await client.startTask("task", { nonce, steps, restMs: 100 });
    this.lastTask = started.id;
    return String(await started.result({ timeouts: { totalMs: TIMES.totalMs } }));
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
