import type { ChildProcess } from "node:child_process";
import { performance } from "node:perf_hooks";
import { commandOf, eachLine, nodeOf, start, stop } from "../child.js";
import type { Bench, Contender, Effort, MessageEra } from "../contender.js";
import { assertSum, callText, initializedText, initializeText } from "../messages.js";
import { peakMemory, processorTime, timePerAnswer } from "./process-figures.js";

const IN_FLIGHT = 64;
const NEWLINE = 0x0a;
/** Ids repeat after this many calls; far more than are ever in flight. */
const DISTINCT = 4096;

/** Calls per second over a pipe with 64 calls in flight, and the most memory that the program held. */
export async function pipeLoad(contender: Contender, effort: Effort): Promise<Bench> {
  const { era = "2025" } = contender;
  const child = await start(contender.program, ["pipe", "pipe", "pipe"]);
  try {
    assertSum(await firstAnswer(child, era), contender.title);
  } catch (error) {
    await stop(child);
    throw error;
  }
  child.stdout?.removeAllListeners("data");
  const load = new PipeLoad(child, era);
  return {
    async round() {
      const before = processorTime(child.pid);
      const { answers, perSecond } = await load.round(effort.roundMs);
      return { perSecond, ...timePerAnswer(before, child.pid, answers), ...peakMemory(child.pid) };
    },
    close: () => stop(child),
  };
}

/** How long it takes from the start of a program to its first answer. */
export async function firstAnswerTime({ program, title, era = "2025" }: Contender): Promise<Bench> {
  nodeOf(program);
  await commandOf(program);
  return {
    async round() {
      const started = performance.now();
      const child = await start(program, ["pipe", "pipe", "pipe"]);
      const answer = await firstAnswer(child, era);
      const millis = performance.now() - started;
      assertSum(answer, title);
      await stop(child);
      return { millis };
    },
    close: async () => {},
  };
}

/** Shakes hands where the era has a handshake, and makes the first call. */
export function firstAnswer({ stdin, stdout }: ChildProcess, era: MessageEra): Promise<string> {
  if (stdin === null || stdout === null) return Promise.reject(new Error("no pipes"));
  return new Promise((resolve, reject) => {
    stdout.once("close", () => reject(new Error("the program ended before its first answer")));
    eachLine(stdout, (line) => {
      if (line.includes('"id":2')) return resolve(line);
      if (line.includes('"id":1')) stdin.write(`${initializedText}\n${callText("2025", 2)}\n`);
    });
    stdin.write(`${era === "2025" ? initializeText : callText(era, 2)}\n`);
  });
}

/** Sends as many calls as answers came, in one write; reads nothing of an answer but its end. */
class PipeLoad {
  readonly #child: ChildProcess;
  /** Twice the distinct calls, so that any stretch of them is one slice. */
  readonly #calls: Buffer;
  readonly #size: number;
  #at = 0;

  constructor(child: ChildProcess, era: MessageEra) {
    this.#child = child;
    const calls = Array.from({ length: DISTINCT }, (_, at) => `${callText(era, 10_000 + at)}\n`).join("");
    this.#size = calls.length / DISTINCT;
    this.#calls = Buffer.from(calls + calls);
  }

  round(ms: number): Promise<{ answers: number; perSecond: number }> {
    const { stdout } = this.#child;
    if (stdout === null) throw new Error("no pipes");
    return new Promise((resolve, reject) => {
      const started = performance.now();
      let answers = 0;
      let waiting = IN_FLIGHT;
      const ended = () => reject(new Error("the program ended during a round"));
      const read = (chunk: Buffer) => {
        const came = countNewlines(chunk);
        answers += came;
        waiting -= came;
        const elapsed = performance.now() - started;
        if (elapsed < ms) {
          waiting += came;
          this.#send(came);
        } else if (waiting === 0) {
          stdout.off("data", read);
          stdout.off("close", ended);
          resolve({ answers, perSecond: (answers / elapsed) * 1000 });
        }
      };
      stdout.on("data", read);
      stdout.once("close", ended);
      this.#send(IN_FLIGHT);
    });
  }

  #send(count: number): void {
    if (count === 0) return;
    this.#child.stdin?.write(this.#calls.subarray(this.#at * this.#size, (this.#at + count) * this.#size));
    this.#at = (this.#at + count) % DISTINCT;
  }
}

function countNewlines(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
