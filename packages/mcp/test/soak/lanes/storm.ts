import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type Client, connect, type Subscription } from "@parley/mcp";
import { atMost, exactly, type Lane, type Measure, scaled, told } from "../lane.js";
import { type Program, startProgram } from "../program.js";
import { waitFor } from "../wait-for.js";

const URI = "soak://changing";
const BATCH = 50;

export const storm: Lane = {
  name: "storm",
  what: "1,000 clients with a subscription each; their server is killed and comes back 10 s later, twice",
  async run({ scale, bundle, say }) {
    const count = scaled(1000, scale);
    const downMs = Math.max(2000, 10_000 * scale);
    const file = await bundle(new URL("../programs/tool-server.ts", import.meta.url));
    let server = await startProgram<{ url: string; port: number }>(file, {});
    const { port, url } = server.ready;
    const attempts = new Attempts();
    const guests: Guest[] = [];
    const measures: Measure[] = [];
    try {
      for (let done = 0; done < count; done += BATCH) {
        const batch = Array.from({ length: Math.min(BATCH, count - done) }, () => Guest.join(url));
        guests.push(...(await Promise.all(batch)));
      }
      measures.push(exactly("clients told of a change before the storm", await toldNow(server, guests, 10_000), count));
      for (const time of ["first", "second"]) {
        attempts.reset();
        await server.kill();
        await new Promise((resolve) => setTimeout(resolve, downMs));
        server = await startProgram(file, { port });
        const since = performance.now();
        const back = await waitForAll(server, guests);
        const seconds = (performance.now() - since) / 1000;
        say(
          `${time} storm: ${back} of ${count} back after ${seconds.toFixed(1)} s, at most ${attempts.peak()} requests/s`,
        );
        measures.push(
          exactly(`${time} storm: clients told of a change afterwards`, back, count),
          atMost("time", `${time} storm: all are back after`, seconds, 30, "s"),
          atMost("time", `${time} storm: most requests in a second, per client`, attempts.peak() / count, 2, ""),
          told("count", `${time} storm: requests of all clients`, attempts.total(), ""),
        );
      }
      return { size: { clients: count, "seconds down": downMs / 1000 }, measures };
    } finally {
      attempts.end();
      await server.kill();
      await Promise.all(guests.map((guest) => guest.leave()));
    }
  },
};

/** Tells of changes until everybody has heard one of this server; gives how many have. */
async function waitForAll(server: Program<unknown>, guests: readonly Guest[]): Promise<number> {
  for (const guest of guests) guest.heard = 0;
  const heard = () => guests.filter((guest) => guest.heard > 0).length;
  // A change is lost for those who are not back yet: the next one finds them.
  const until = performance.now() + 60_000;
  while (heard() < guests.length && performance.now() < until) {
    await server.ask("changed");
    await waitFor(() => heard() === guests.length, 250);
  }
  return heard();
}

async function toldNow(server: Program<unknown>, guests: readonly Guest[], ms: number): Promise<number> {
  await server.ask("changed");
  await waitFor(() => guests.every(({ heard }) => heard > 0), ms);
  return guests.filter(({ heard }) => heard > 0).length;
}

/** A client that waits for changes. */
class Guest {
  readonly #client: Client;
  heard = 0;

  private constructor(client: Client, subscription: Subscription) {
    this.#client = client;
    void this.#listen(subscription);
  }

  static async join(url: string): Promise<Guest> {
    // A lost connection is what this lane is about; thousands of warnings of it say nothing more.
    const client = await connect(url, { onWarning() {} });
    return new Guest(client, await client.subscribe(URI));
  }

  async #listen(subscription: Subscription): Promise<void> {
    try {
      // Changes that are only feared, because the stream had been broken, do not show that the server speaks again.
      for await (const change of subscription) if (!("missed" in change && change.missed === true)) this.heard++;
    } catch {
      // Its end shows in what was not heard.
    }
  }

  leave(): Promise<void> {
    return this.#client.close().catch(() => {});
  }
}

/** Counts the HTTP requests of this process by the second, refused connections too. */
class Attempts {
  readonly #perSecond = new Map<number, number>();
  readonly #count = () => {
    const second = Math.floor(performance.now() / 1000);
    this.#perSecond.set(second, (this.#perSecond.get(second) ?? 0) + 1);
  };

  constructor() {
    subscribe("http.client.request.start", this.#count);
  }

  reset(): void {
    this.#perSecond.clear();
  }

  peak(): number {
    return Math.max(0, ...this.#perSecond.values());
  }

  total(): number {
    return [...this.#perSecond.values()].reduce((sum, count) => sum + count, 0);
  }

  end(): void {
    unsubscribe("http.client.request.start", this.#count);
  }
}
