import { type Client, type ClientOptions, connect } from "@parley/mcp";
import { exactly, type Lane, scaled, told } from "../lane.js";
import { startProgram } from "../program.js";

const PRINCIPALS = 50;
const IN_FLIGHT = 4;
/** Every so manieth call has a question to the client's model. */
const ASK_EVERY = 4;

export const isolation: Lane = {
  name: "isolation",
  what: "50 principals of both eras make 2,000 calls each of one server, with the same ids, progress and sampling",
  async run({ scale, bundle }) {
    const each = scaled(2000, scale);
    const file = await bundle(new URL("../programs/tool-server.ts", import.meta.url));
    const server = await startProgram<{ url: string }>(file, { principals: true });
    const callers: PrincipalCaller[] = [];
    const since = performance.now();
    try {
      for (let at = 0; at < PRINCIPALS; at++) callers.push(await PrincipalCaller.join(server.ready.url, at));
      await Promise.all(callers.map((caller) => caller.run(each)));
      const seconds = (performance.now() - since) / 1000;
      const sum = (read: (caller: PrincipalCaller) => number) =>
        callers.reduce((total, caller) => total + read(caller), 0);
      const warnings = await server.ask<string[]>("warnings");
      const foreignThere = await server.ask<number>("foreign");
      const asked = PRINCIPALS * Math.ceil(each / ASK_EVERY);
      return {
        size: { principals: PRINCIPALS, "calls of each": each },
        measures: [
          exactly(
            "right answers",
            sum(({ right }) => right),
            PRINCIPALS * each,
          ),
          exactly(
            "secrets of others in answers, progress and questions",
            sum(({ foreign }) => foreign),
            0,
          ),
          exactly("secrets of others that the server was given", foreignThere, 0),
          exactly(
            "questions answered",
            sum(({ questions }) => questions),
            asked,
          ),
          exactly(
            "faults and messages that belong to nothing",
            sum(({ faults }) => faults),
            0,
          ),
          told(
            "count",
            "reports of progress",
            sum(({ progress }) => progress),
            "",
          ),
          exactly("warnings of the runtime", warnings.length, 0),
          told("time", "calls per second", (PRINCIPALS * each) / seconds, "/s"),
        ],
      };
    } finally {
      await Promise.all(callers.map((caller) => caller.leave()));
      await server.stop();
    }
  },
};

/** One principal with a client of its own; each client counts its ids from the same beginning. */
class PrincipalCaller {
  readonly #name: string;
  #client: Client | undefined;
  right = 0;
  foreign = 0;
  questions = 0;
  progress = 0;
  faults = 0;

  private constructor(name: string) {
    this.#name = name;
  }

  static async join(url: string, at: number): Promise<PrincipalCaller> {
    const caller = new PrincipalCaller(`principal-${at}`);
    const options: ClientOptions = {
      headers: { authorization: `Bearer ${caller.#name}` },
      revisions: at % 2 === 0 ? ["2026-07-28"] : ["2025-11-25"],
      onSample: ({ messages }) => {
        const content = messages[0]?.content;
        const secret = content !== undefined && !Array.isArray(content) && content.type === "text" ? content.text : "";
        caller.#check(secret);
        caller.questions++;
        return { role: "assistant", model: "none", content: { type: "text", text: `${secret}!` } };
      },
    };
    const client = await connect(url, options);
    client.on("fault", () => caller.faults++);
    client.on("unknown", () => caller.faults++);
    caller.#client = client;
    return caller;
  }

  async run(count: number): Promise<void> {
    let next = 0;
    const lane = async () => {
      for (let at = next++; at < count; at = next++) await this.#call(at);
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  }

  async leave(): Promise<void> {
    await this.#client?.close().catch(() => {});
  }

  async #call(at: number): Promise<void> {
    const secret = `${this.#name}:${at}`;
    const ask = at % ASK_EVERY === 0;
    const heard = await this.#client?.call(
      "confide",
      { secret, ask },
      {
        onProgress: ({ message = "" }) => {
          this.progress++;
          // Progress of another call of the same principal would be a mix-up too.
          if (message !== secret) this.foreign++;
        },
      },
    );
    this.#check(String(heard));
    if (heard === (ask ? `${secret}!` : secret)) this.right++;
  }

  #check(text: string): void {
    if (!text.startsWith(`${this.#name}:`)) this.foreign++;
  }
}
