// The files that one `tools/call` enters, in order, from `client.call` to its value: Streamable HTTP on Node, client and
// server warm and in one process, JSON Schema for input and output, an asynchronous handler, a JSON answer.
//
// Usage: npm run walk [-- [2026-07-28] [2025-11-25] [--json]]
//
// How it counts. Each function of `src/` says when it is entered, and each `await` when it goes on: both are events of the
// function's file, in the order of time. A callback (`then`, an event of Node) is a function like any other. Events of
// leaves (leaves.ts: named helpers that know nothing of the call) are taken out. Each longest run of events in one file is
// one visit of that file, so that going on after an `await` is a visit of its own only if another spine file was entered
// meanwhile, and a plain return to a caller is none. Files are the distinct spine files; re-entries are visits less files.
// The user's handler ends a visit and is no file. The walk ends when the caller has its value.
import { WALK_REVISIONS } from "./bounds.js";
import { takeWalks } from "./take-walk.js";
import { renderLeaves, renderReentries, renderWalk, summaryOf } from "./trace.js";

const args = process.argv.slice(2);
const named = args.filter((word) => word !== "--json");
const unknown = named.filter((word) => !(WALK_REVISIONS as readonly string[]).includes(word));
if (unknown.length > 0) {
  console.error(`walk: ${unknown.join(", ")} is neither --json nor one of ${WALK_REVISIONS.join(", ")}`);
  process.exit(2);
}
const walks = await takeWalks(named.length > 0 ? named : WALK_REVISIONS);
if (args.includes("--json")) console.log(JSON.stringify(walks, null, 2));
else {
  for (const walk of walks) {
    console.log(
      `${summaryOf(walk)}\n\n${renderWalk(walk)}\nVisited again:\n${renderReentries(walk)}\nLeaves:\n${renderLeaves(walk)}`,
    );
    for (const line of walk.falseLeaves) console.log(`not a leaf: ${line}`);
  }
  for (const walk of walks) console.log(summaryOf(walk));
}
