import { setImmediate } from "node:timers/promises";
import { REVISIONS, type Revision } from "@parley/mcp/protocol";
import type { Recording } from "@parley/mcp/recording";
import type { Connections, ImportedSession } from "../connections/connections.js";
import { isRecord } from "../engine/read-input.js";
import type { Timeline } from "../timeline/timeline.js";

/** Where a recording is shown. */
export interface ImportPlace {
  readonly connections: Pick<Connections, "addImported">;
  readonly timeline: Pick<Timeline, "addMessage" | "addEvent" | "now">;
  /** Told when entries were added. */
  readonly changed: () => void;
}

/** Characters of what a server says of itself, and of its capabilities as JSON, that are shown. */
const MOST_WORDS = 20_000;
/** Messages of a file that are shown, so that most of the timeline stays for others. */
const MOST_IMPORTED = 10_000;
/** Notes of a file that are shown. */
const MOST_NOTES = 20;
/** Messages that are added before others get their turn. */
const AT_ONCE = 200;

/** Shows a recording beside the connections: its messages are measured and held to the schema like any others. Gives its id. */
export async function importSession(
  recording: Recording,
  name: string,
  { connections, timeline, changed }: ImportPlace,
): Promise<string> {
  const facts = factsOf(recording, name);
  const { id } = connections.addImported(facts);
  const began = timeline.now();
  const wires = new Map<number, object>();
  const { messages, notes } = recording;
  for (const [at, { ms, direction, message, about, connection: number = 1 }] of messages
    .slice(0, MOST_IMPORTED)
    .entries()) {
    const connection = wires.get(number) ?? {};
    wires.set(number, connection);
    const wire = { direction, message, connection, ...(about === undefined ? {} : { about }) };
    timeline.addMessage({ connection: id, wire, revision: facts.revision, ms: began + ms });
    if (at % AT_ONCE === AT_ONCE - 1) {
      changed();
      await setImmediate();
    }
  }
  const left = messages.length - MOST_IMPORTED;
  const told = left > 0 ? [...notes, `${left} further messages of the file are not shown`] : notes;
  for (const note of told.slice(-MOST_NOTES)) timeline.addEvent({ connection: id, text: `note: ${note}` });
  changed();
  return id;
}

function factsOf({ header, messages }: Recording, name: string): ImportedSession {
  const revision: Revision | undefined = REVISIONS.find((one) => one === header.revision);
  const answers = messages.flatMap(({ direction, message: { result } }) =>
    direction === "received" && isRecord(result) && isRecord(result["capabilities"]) ? [result] : [],
  );
  const { capabilities, instructions } = answers[0] ?? {};
  const { server } = header;
  const cut = (text: string) => text.slice(0, MOST_WORDS);
  return {
    name,
    revision,
    server: server === undefined ? undefined : { name: cut(server.name), version: cut(server.version) },
    ...(isRecord(capabilities) && JSON.stringify(capabilities).length <= MOST_WORDS ? { capabilities } : {}),
    ...(typeof instructions === "string" ? { instructions: cut(instructions) } : {}),
  };
}
