import { execFile, spawn } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What a Redis server has done since the figures were last set to zero. */
export interface RedisFigures {
  /** Bytes that came and went. */
  readonly bytes: number;
  /** Time of the processor, in microseconds. */
  readonly micros: number;
}

/** Looks at one Redis server from outside. */
export class RedisWatch {
  readonly #port: string;

  constructor(port: number) {
    this.#port = String(port);
  }

  async figures(): Promise<RedisFigures> {
    const info = await this.#ask("info", "everything");
    const read = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(info)?.[1] ?? Number.NaN);
    return {
      bytes: read("total_net_input_bytes") + read("total_net_output_bytes"),
      micros: (read("used_cpu_user") + read("used_cpu_sys")) * 1e6,
    };
  }

  /** Keys, and the bytes that Redis takes for them and for the channels that nodes are subscribed to. */
  async memory(): Promise<{ keys: number; bytes: number }> {
    const keys = Number((await this.#ask("dbsize")).trim());
    const bytes = Number(/^used_memory:(\d+)/m.exec(await this.#ask("info", "memory"))?.[1] ?? Number.NaN);
    return { keys, bytes };
  }

  /** The commands that clients send while `act` runs, without those that run inside of scripts. */
  async commandsDuring(act: () => Promise<void>): Promise<string[]> {
    const monitor = spawn("redis-cli", ["-p", this.#port, "monitor"], { stdio: ["ignore", "pipe", "ignore"] });
    let text = "";
    await new Promise<void>((resolve) => {
      monitor.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (text.startsWith("OK")) resolve();
      });
    });
    try {
      await act();
      await new Promise((resolve) => setTimeout(resolve, 300));
    } finally {
      monitor.kill("SIGTERM");
    }
    return text
      .split("\n")
      .flatMap((line) => /^[\d.]+ \[\d+ [\d.]+:\d+\] "(\w+)"/.exec(line)?.[1]?.toLowerCase() ?? []);
  }

  async #ask(...command: string[]): Promise<string> {
    return (await run("redis-cli", ["-p", this.#port, ...command], { timeout: 30_000 })).stdout;
  }
}
