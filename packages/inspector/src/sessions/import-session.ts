import { setImmediate } from "node:timers/promises";
import { REVISIONS, type Revision } from "@parley/mcp/protocol";
import type { Recording } from "@parley/mcp/recording";
import type { Connections, ImportedSession } from "../connections/connections.js";
import { isRecord } from "../engine/read-input.js";
import type { Timeline } from "../timeline/timeline.js";

/** The stores that an imported recording is added to. */
export interface ImportDestination {
  readonly connections: Pick<Connections, "addImported">;
  readonly timeline: Pick<Timeline, "addMessage" | "addEvent" | "now">;
  /** Called after entries were added. */
  readonly changed: () => void;
}

/**
 * Maximum length of the server's name, version and instructions, and of its capabilities as JSON, in characters. Longer
 * texts are truncated, and longer capabilities are omitted.
 */
const MAX_TEXT_LENGTH = 20_000;
/**
 * Maximum number of messages imported from a file. Further messages are omitted, so that half of the timeline remains
 * for other connections.
 */
const MAX_MESSAGES = 10_000;
/** Maximum number of notes shown from a file. If there are more, only the last ones are shown. */
const MAX_NOTES = 20;
/** Number of messages to add before yielding to the event loop. */
const BATCH_SIZE = 200;

/**
 * Shows a recording as a connection. Its messages are measured and validated like live ones. Returns the id of the
 * connection.
 */
export async function importSession(
  recording: Recording,
  name: string,
  { connections, timeline, changed }: ImportDestination,
): Promise<string> {
  const session = sessionInfo(recording, name);
  const { id } = connections.addImported(session);
  const began = timeline.now();
  const wires = new Map<number, object>();
  const { messages, notes } = recording;
  for (const [at, { ms, direction, message, about, connection: number = 1 }] of messages
    .slice(0, MAX_MESSAGES)
    .entries()) {
    const connection = wires.get(number) ?? {};
    wires.set(number, connection);
    const wire = { direction, message, connection, ...(about === undefined ? {} : { about }) };
    timeline.addMessage({ connection: id, wire, revision: session.revision, ms: began + ms });
    if (at % BATCH_SIZE === BATCH_SIZE - 1) {
      changed();
      await setImmediate();
    }
  }
  const left = messages.length - MAX_MESSAGES;
  const shownNotes = left > 0 ? [...notes, `${left} further messages of the file are not shown`] : notes;
  for (const note of shownNotes.slice(-MAX_NOTES)) timeline.addEvent({ connection: id, text: `note: ${note}` });
  changed();
  return id;
}

function sessionInfo({ header, messages }: Recording, name: string): ImportedSession {
  const revision: Revision | undefined = REVISIONS.find((one) => one === header.revision);
  const answers = messages.flatMap(({ direction, message: { result } }) =>
    direction === "received" && isRecord(result) && isRecord(result["capabilities"]) ? [result] : [],
  );
  const { capabilities, instructions } = answers[0] ?? {};
  const { server } = header;
  const cut = (text: string) => text.slice(0, MAX_TEXT_LENGTH);
  return {
    name,
    revision,
    server: server === undefined ? undefined : { name: cut(server.name), version: cut(server.version) },
    ...(isRecord(capabilities) && JSON.stringify(capabilities).length <= MAX_TEXT_LENGTH ? { capabilities } : {}),
    ...(typeof instructions === "string" ? { instructions: cut(instructions) } : {}),
  };
}
