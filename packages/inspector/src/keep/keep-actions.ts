import { parseRecording, type Recording } from "@parley/mcp/recording";
import type { ActionHandlers } from "../contract/actions.js";
import { flagOf, textOf } from "../engine/read-input.js";
import type { Timeline } from "../timeline/timeline.js";
import { exportSession, sessionOf } from "./export-session.js";
import type { KeptConnections } from "./kept-connection.js";
import { replaySession } from "./replay-session.js";
import type { SessionRecorder } from "./session-recorder.js";
import { shareSession } from "./share-session.js";

/** What the room needs of the others. */
export interface KeepActionsOptions {
  readonly connections: KeptConnections & {
    /** Shows a recording beside the connections, and gives its id. */
    addImported(recording: Recording, name: string): string;
  };
  readonly timeline: Timeline;
  readonly recorder: SessionRecorder;
  /** Where the built page is. */
  readonly pageFolder: string;
}

type KeepActions = Pick<
  ActionHandlers,
  "startRecording" | "stopRecording" | "exportSession" | "importSession" | "replay" | "share"
>;

/** Characters of the name of an imported file that are shown. */
const MOST_NAME = 100;

/** Records, exports, imports, replays and shares sessions. */
export function keepActions({ connections, timeline, recorder, pageFolder }: KeepActionsOptions): KeepActions {
  const source = { timeline, recorder };
  return {
    startRecording() {
      recorder.start();
      return {};
    },
    stopRecording() {
      recorder.stop();
      return {};
    },
    exportSession: (input) => exportSession(connections.get(textOf(input, "connection")), source),
    importSession(input) {
      const name = textOf(input, "name").slice(0, MOST_NAME);
      // A recording may be longer than other texts, and its parser says how long.
      const text = typeof input.text === "string" ? input.text : textOf(input, "text");
      return { connection: connections.addImported(parseRecording(text, name), name) };
    },
    async replay(input) {
      const session = sessionOf(connections.get(textOf(input, "session")), source);
      return replaySession(session, connections.get(textOf(input, "against")), flagOf(input, "all"));
    },
    share: () => shareSession({ connections: connections.all(), timeline, pageFolder }),
  };
}
