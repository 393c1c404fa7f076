import { exactly, type Lane, scaled, told } from "../lane.js";
import { MEGABYTE, type Memory } from "../memory.js";
import { openSession } from "../messages.js";
import { type Program, startProgram } from "../program.js";
import { RawConnection } from "../raw-connection.js";
import { ResumingReader } from "../resuming-reader.js";
import { seededRandom } from "../seeded-random.js";
import { waitFor } from "../wait-for.js";

const STREAMS = 20;
const RESTARTS = 3;
/** About the length of one event, by which bytes between cuts are reckoned. */
const EVENT_BYTES = 115;

export const resume: Lane = {
  name: "resume",
  what: "1,000,000 resumable events over 20 streams, with about 1,000 cuts at random bytes and 3 restarts of the server",
  async run({ scale, bundle, say }) {
    const each = scaled(1_000_000 / STREAMS, scale);
    const cutEvery = (each * STREAMS * EVENT_BYTES) / scaled(1000, Math.max(scale, 0.05));
    const file = await bundle(new URL("../programs/event-server.ts", import.meta.url));
    const server = await startProgram<{ port: number }>(file, {});
    const readers: ResumingReader[] = [];
    const since = performance.now();
    try {
      for (let at = 0; at < STREAMS; at++) readers.push(await reader(server, `stream-${at}`, each, cutEvery, at));
      const reading = Promise.all(readers.map((one) => one.run()));
      const restarts = await restartInBetween(server, readers, each * STREAMS, say);
      await reading;
      const seconds = (performance.now() - since) / 1000;
      const sum = (read: (one: ResumingReader) => number) => readers.reduce((total, one) => total + read(one), 0);
      const memory = await server.ask<Memory>("memory");
      const warnings = await server.ask<string[]>("warnings");
      return {
        size: { events: each * STREAMS, streams: STREAMS },
        measures: [
          exactly(
            "events received",
            sum((one) => one.received),
            each * STREAMS,
          ),
          exactly(
            "events lost",
            sum((one) => one.lost),
            0,
          ),
          exactly(
            "events received twice",
            sum((one) => one.repeated),
            0,
          ),
          exactly(
            "answers that refused to resume",
            sum((one) => one.refused),
            0,
          ),
          exactly("restarts of the server", restarts, RESTARTS),
          told(
            "count",
            "connections cut by the client",
            sum((one) => one.cuts),
            "",
          ),
          told(
            "count",
            "connections ended or refused by the server",
            sum((one) => one.ended),
            "",
          ),
          exactly("warnings of the runtime", warnings.length, 0),
          told("memory", "heap at the end, the store in it", memory.heap / MEGABYTE, "MB"),
          told("time", "events per second", (each * STREAMS) / seconds, "/s"),
        ],
        notes: [
          "The store is in memory and outlives the server, which is closed with all its sessions and started anew on it.",
        ],
      };
    } finally {
      for (const one of readers) one.stop();
      await server.stop();
    }
  },
};

async function reader(
  server: Program<{ port: number }>,
  name: string,
  total: number,
  cutEvery: number,
  seed: number,
): Promise<ResumingReader> {
  const { port } = server.ready;
  const connection = await RawConnection.open(port);
  const session = await openSession(connection, name);
  connection.close();
  const random = seededRandom(seed + 1);
  return new ResumingReader({
    port,
    session,
    total,
    // From nearly at once to nearly twice the mean.
    nextCut: () => 1 + Math.floor(cutEvery * 2 * random()),
    allow: (upTo) => void server.ask("allow", { name, upTo }).catch(() => {}),
  });
}

/** Restarts the server whenever another quarter of all events has arrived. */
async function restartInBetween(
  server: Program<unknown>,
  readers: readonly ResumingReader[],
  total: number,
  say: (line: string) => void,
): Promise<number> {
  const received = () => readers.reduce((sum, one) => sum + one.received, 0);
  for (let done = 0; done < RESTARTS; done++) {
    const mark = (total * (done + 1)) / (RESTARTS + 1);
    if (!(await waitFor(() => received() >= mark, 180_000, 2))) return done;
    await server.ask("restart");
    say(`restarted after ${received()} events`);
  }
  return RESTARTS;
}
