// Runs inside the instrumented bundle: for each lane a few warm clients and servers, one call of each recorded.
// The recorder stands first: sources call it from the moment they are evaluated.

import "./recorder.js";

import { WALK_LANES, WALK_REVISIONS, type WalkLane } from "./bounds.js";
import { LANES } from "./lanes.js";
import { drive, idle } from "./platform.js";
import { recorder, type WalkEvent } from "./recorder.js";

/** What one process tells: for each lane, the recorded calls. */
export interface Told {
  readonly lane: WalkLane;
  readonly revision: string | undefined;
  readonly traces: readonly (readonly WalkEvent[])[];
}

/** Calls before the one that is recorded. A session remembers some of them, so the number is part of the measure. */
const WARM_CALLS = 12;
const RECORDED_CALLS = 3;

const [, , revisionWord, ...laneWords] = process.argv;
const revision = WALK_REVISIONS.find((known) => known === revisionWord);
if (revision === undefined) throw new Error(`name one of ${WALK_REVISIONS.join(", ")}`);

const told: Told[] = [];
for (const lane of WALK_LANES.filter((known) => laneWords.includes(known))) {
  const traces: WalkEvent[][] = [];
  let spoken: string | undefined;
  for (let recorded = 0; recorded < RECORDED_CALLS; recorded++) {
    const open = await LANES[lane](revision);
    spoken = open.revision;
    for (let call = 0; call < WARM_CALLS; call++) await drive(open.call());
    // What an earlier call left for later turns must not stand in this one's trace.
    await idle();
    recorder.start();
    await drive(open.call().finally(() => traces.push(recorder.stop())));
    await open.close();
  }
  told.push({ lane, revision: spoken, traces });
}
process.stdout.write(JSON.stringify(told), () => process.exit(0));
