import { parseRecording } from "@parley/mcp/recording";
import type { ActionHandlers } from "../contract/actions.js";
import { OneAtATime } from "../engine/one-at-a-time.js";
import { flagOf, textOf } from "../engine/read-input.js";
import type { Timeline } from "../timeline/timeline.js";
import type { CancellableRuns } from "./cancellable-runs.js";
import { exportSession, sessionOf } from "./export-session.js";
import { type ImportPlace, importSession } from "./import-session.js";
import type { KeptConnections } from "./kept-connection.js";
import { replaySession } from "./replay-session.js";
import type { SessionRecorder } from "./session-recorder.js";
import { shareSession } from "./share-session.js";

/** What the room needs of the others. */
export interface KeepActionsOptions {
  readonly connections: KeptConnections & ImportPlace["connections"];
  readonly timeline: Timeline;
  readonly recorder: SessionRecorder;
  readonly runs: CancellableRuns;
  /** Where the built page is. */
  readonly pageFolder: string;
  /** Told when something was added to the timeline. */
  readonly changed: () => void;
}

type KeepActions = Pick<
  ActionHandlers,
  "startRecording" | "stopRecording" | "exportSession" | "importSession" | "replay" | "cancelRun" | "share"
>;

/** Characters of the name of an imported file that are shown. */
const MOST_NAME = 100;

/** Records, exports, imports, replays and shares sessions. */
export function keepActions(options: KeepActionsOptions): KeepActions {
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
      const name = textOf(input, "name").slice(0, MOST_NAME);
      // A recording may be longer than other texts, and its parser says how long.
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
