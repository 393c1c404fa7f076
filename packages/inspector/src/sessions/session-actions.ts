import { parseRecording } from "@parley/mcp/recording";
import type { ActionHandlers } from "../contract/actions.js";
import { OneAtATime } from "../engine/one-at-a-time.js";
import { flagOf, textOf } from "../engine/read-input.js";
import type { Timeline } from "../timeline/timeline.js";
import type { CancellableRuns } from "./cancellable-runs.js";
import { exportSession, sessionOf } from "./export-session.js";
import { type ImportDestination, importSession } from "./import-session.js";
import { replaySession } from "./replay-session.js";
import type { SessionConnections } from "./session-connection.js";
import type { SessionRecorder } from "./session-recorder.js";
import { shareSession } from "./share-session.js";

/** The components that the actions use. */
export interface SessionActionsOptions {
  readonly connections: SessionConnections & ImportDestination["connections"];
  readonly timeline: Timeline;
  readonly recorder: SessionRecorder;
  readonly runs: CancellableRuns;
  /** The folder of the built page. */
  readonly pageFolder: string;
  /** Called after entries were added to the timeline. */
  readonly changed: () => void;
}

type SessionActions = Pick<
  ActionHandlers,
  "startRecording" | "stopRecording" | "exportSession" | "importSession" | "replay" | "cancelRun" | "share"
>;

/** Maximum length of the name of an imported file, in characters. Longer names are truncated. */
const MAX_NAME_LENGTH = 100;

/** Creates the actions that record, export, import, replay and share sessions. */
export function sessionActions(options: SessionActionsOptions): SessionActions {
  const { connections, timeline, recorder, runs, pageFolder, changed } = options;
  const source = { timeline, recorder };
  const imports = new OneAtATime("another import");
  const shares = new OneAtATime("another shared file");
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
    async importSession(input) {
      const name = textOf(input, "name").slice(0, MAX_NAME_LENGTH);
      // Recordings may be longer than other strings. `parseRecording` enforces its own limit.
      const text = typeof input.text === "string" ? input.text : textOf(input, "text");
      const recording = parseRecording(text, name);
      const connection = await imports.run(() => importSession(recording, name, { connections, timeline, changed }));
      return { connection };
    },
    async replay(input) {
      const session = sessionOf(connections.get(textOf(input, "session")), source);
      const against = connections.get(textOf(input, "against"));
      const all = flagOf(input, "all");
      return runs.run("replay", against.id, (run) => replaySession({ session, against, all }, run));
    },
    cancelRun(input) {
      runs.cancel(textOf(input, "run"));
      return {};
    },
    share: () => shares.run(() => shareSession({ connections: connections.all(), timeline, pageFolder })),
  };
}
