// The files that one `tools/call` enters, in order, from `client.call` to its value: Streamable HTTP on Node, client and
// server warm and in one process, JSON Schema for input and output, an asynchronous handler. Lanes:
//   plain     a JSON answer
//   progress  the handler reports progress once, and the client listens: a streamed answer
//   elicit    the handler asks the client once
//   gateway   the server is a host's, and passes the call on to another server over HTTP
//   task      the call becomes a task, and the client follows it to its result
//
// Usage: npm run walk [-- [lane …] [2026-07-28] [2025-11-25] [--json | --counts]]
//
// How it counts. Each function of `src/` says when it is entered, and each `await` when it goes on: both are events of the
// function's file, in the order of time. A callback (`then`, an event of Node) is a function like any other. Events of
// leaves (leaves.ts: named helpers that know nothing of the call) are taken out. Each longest run of events in one file is
// one visit of that file, so that going on after an `await` is a visit of its own only if another spine file was entered
// meanwhile, and a plain return to a caller is none. Files are the distinct spine files; re-entries are visits less files.
// The user's handler ends a visit and is no file. The walk ends when the caller has its value.
//
// Why the numbers do not depend on the machine. Timers and clocks of the library are virtual (platform.ts): time stands
// still until the process has been idle for some turns of the event loop, and then moves on to the next timer. Client and
// server are in one process, so that bytes arrive in the turns after they were written, whatever else the machine does.
// Each recorded call has a new client and server with the same number of calls before it, because a session remembers
// earlier ones. The walk is the one that most of the recorded calls took.
import { WALK_BOUNDS, WALK_LANES, WALK_REVISIONS } from "./bounds.js";
import { takeWalks } from "./take-walk.js";
import { renderLeaves, renderReentries, renderWalk, summaryOf } from "./trace.js";

const args = process.argv.slice(2);
const lanes = WALK_LANES.filter((lane) => args.includes(lane));
const revisions = WALK_REVISIONS.filter((revision) => args.includes(revision));
const known: readonly string[] = [...WALK_LANES, ...WALK_REVISIONS, "--json", "--counts"];
const unknown = args.filter((word) => !known.includes(word));
if (unknown.length > 0) {
  console.error(`walk: ${unknown.join(", ")} is none of ${known.join(", ")}`);
  process.exit(2);
}
const counts = args.includes("--counts");
const defaultLanes = counts ? WALK_LANES : (["plain"] as const);
const walks = await takeWalks(
  lanes.length > 0 ? lanes : defaultLanes,
  revisions.length > 0 ? revisions : WALK_REVISIONS,
);
if (args.includes("--json")) console.log(JSON.stringify(walks, null, 2));
else if (counts) {
  console.log("lane      revision    files (bound)  re-entries (bound)");
  for (const { lane, revision, files, reentries } of walks) {
    const bounds = WALK_BOUNDS[lane][revision];
    const columns = [lane.padEnd(9), revision, `${files} (${bounds.files})`.padStart(14)];
    console.log(`${columns.join(" ")} ${`${reentries} (${bounds.reentries})`.padStart(19)}`);
  }
} else {
  for (const walk of walks) {
    console.log(
      `${summaryOf(walk)}\n\n${renderWalk(walk)}\nVisited again:\n${renderReentries(walk)}\nLeaves:\n${renderLeaves(walk)}`,
    );
    for (const line of walk.falseLeaves) console.log(`not a leaf: ${line}`);
  }
  for (const walk of walks) console.log(summaryOf(walk));
}
