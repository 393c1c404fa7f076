import { atMost, exactly, type Lane, type LaneSettings, type Measure, scaled, told } from "../lane.js";
import { MEGABYTE, type Memory, slopeOf } from "../memory.js";
import { echoCall, openSession } from "../messages.js";
import { type Program, startProgram } from "../program.js";
import { RawConnection } from "../raw-connection.js";

const CONNECTIONS = 32;
/** Memory is read after each tenth; the first one, 100,000 calls at full size, is what the others are compared with. */
const TENTHS = 10;

export const calls: Lane = {
  name: "calls",
  what: "1,000,000 calls of a tool over HTTP (half of them in sessions) and 1,000,000 of one client in memory",
  async run(settings) {
    const total = scaled(1_000_000 / TENTHS, settings.scale) * TENTHS;
    const served = await overHttp(settings, total);
    const called = await byOneClient(settings, total);
    return {
      size: { "calls over HTTP": total, connections: CONNECTIONS, "calls of one client": total },
      measures: [...served, ...called],
    };
  },
};

async function overHttp({ bundle, say }: LaneSettings, total: number): Promise<Measure[]> {
  const file = await bundle(new URL("../programs/tool-server.ts", import.meta.url));
  const server = await startProgram<{ port: number }>(file, {});
  const load = new Load(server.ready.port);
  try {
    await load.open();
    const since = performance.now();
    const samples = await inTenths(server, total, (count) => load.run(count), say);
    const seconds = (performance.now() - since) / 1000;
    const warnings = await server.ask<string[]>("warnings");
    return [
      exactly("answers that were another call's", load.mixUps, 0),
      exactly("right answers over HTTP", load.right, total),
      ...growth("server", samples),
      // What it takes from the system must not creep either; it serves for months.
      atMost("memory", "server: resident memory, slope per tenth", slope(samples), 1, "MB"),
      exactly("warnings of the runtime", warnings.length, 0),
      told("time", "calls per second", total / seconds, "/s"),
    ];
  } finally {
    load.close();
    await server.stop();
  }
}

async function byOneClient({ bundle, say }: LaneSettings, total: number): Promise<Measure[]> {
  const file = await bundle(new URL("../programs/memory-client.ts", import.meta.url));
  const client = await startProgram<object>(file, {});
  try {
    let right = 0;
    const since = performance.now();
    const run = async (count: number) => {
      right += await client.ask<number>("call", count);
    };
    const samples = await inTenths(client, total, run, say);
    const micros = ((performance.now() - since) * 1000) / total;
    return [
      exactly("right answers to one client", right, total),
      ...growth("client", samples),
      told("memory", "client: resident memory, slope per tenth", slope(samples), "MB"),
      told("time", "one call in memory", micros, "µs"),
    ];
  } finally {
    await client.stop();
  }
}

async function inTenths(
  program: Program<unknown>,
  total: number,
  run: (count: number) => Promise<void>,
  say: (line: string) => void,
): Promise<Memory[]> {
  const samples: Memory[] = [];
  for (let tenth = 1; tenth <= TENTHS; tenth++) {
    await run(total / TENTHS);
    const memory = await program.ask<Memory>("memory");
    samples.push(memory);
    const [heap, rss] = [memory.heap, memory.rss].map((bytes) => (bytes / MEGABYTE).toFixed(2));
    say(`${(total / TENTHS) * tenth} calls: heap ${heap} MB, resident ${rss} MB`);
  }
  return samples;
}

/** Megabytes of resident memory per tenth of the calls. */
function slope(samples: readonly Memory[]): number {
  return slopeOf(samples.map(({ rss }) => rss)) / MEGABYTE;
}

function growth(who: string, samples: readonly Memory[]): Measure[] {
  const [first] = samples;
  const highest = Math.max(...samples.slice(1).map(({ heap }) => heap)) - (first?.heap ?? 0);
  return [
    atMost("memory", `${who}: heap after collection, highest against the first tenth`, highest / MEGABYTE, 2, "MB"),
    told("memory", `${who}: resident memory at the end`, (samples.at(-1)?.rss ?? 0) / MEGABYTE, "MB"),
  ];
}

/** Connections that each wait for one answer; every second one has a session. */
class Load {
  readonly #port: number;
  readonly #connections: { connection: RawConnection; session: string | undefined }[] = [];
  #nonce = 0;
  mixUps = 0;
  right = 0;

  constructor(port: number) {
    this.#port = port;
  }

  async open(): Promise<void> {
    for (let at = 0; at < CONNECTIONS; at++) {
      const connection = await RawConnection.open(this.#port);
      const session = at % 2 === 0 ? undefined : await openSession(connection, `caller-${at}`);
      this.#connections.push({ connection, session });
    }
  }

  async run(count: number): Promise<void> {
    let left = count;
    const work = async ({ connection, session }: { connection: RawConnection; session: string | undefined }) => {
      // All connections use the same small ids at the same time; only the nonce tells calls apart.
      for (let id = 1; left-- > 0; id++) {
        const nonce = ++this.#nonce;
        const { headers, body } = echoCall(id, nonce, session);
        const reply = await connection.send("POST", headers, body);
        if (reply.body.includes(`"nonce ${nonce}"`) && reply.body.includes(`"id":${id}`)) this.right++;
        else if (reply.body.includes('"nonce ')) this.mixUps++;
        else throw new Error(`status ${reply.status}: ${reply.body.slice(0, 300)}`);
      }
    };
    await Promise.all(this.#connections.map(work));
  }

  close(): void {
    for (const { connection } of this.#connections) connection.close();
  }
}
