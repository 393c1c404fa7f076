import type { WalkLane, WalkRevision } from "./bounds.js";
import { type Leaf, leafOf } from "./leaves.js";
import type { WalkEvent } from "./recorder.js";

/** Stands in a walk where the user's own function runs; no file of the library. */
export const HANDLER = "YOUR HANDLER";

/** A stay in one spine file. */
export interface FileVisit {
  readonly file: string;
  /** Functions entered or gone on with, in order; a callback goes by the function that made it. */
  readonly names: readonly string[];
  /** How deep the file stands in the nesting, by its first visit. */
  readonly depth: number;
  /** True when the file was visited before. */
  readonly again: boolean;
}

export interface LeafUse {
  readonly file: string;
  readonly leaf: Leaf;
  readonly entered: number;
}

/** What one call enters, from the caller's `client.call` to its value. */
export interface Walk {
  readonly lane: WalkLane;
  readonly revision: WalkRevision;
  readonly visits: readonly FileVisit[];
  /** Distinct spine files. */
  readonly files: number;
  /** Visits less files: how often a reader comes back to a file already seen. */
  readonly reentries: number;
  readonly leaves: readonly LeafUse[];
  /** Leaves that did what a leaf must not do. */
  readonly falseLeaves: readonly string[];
}

/** Leaves taken out, each longest run of events in one file is one visit of it. */
export function toWalk(lane: WalkLane, revision: WalkRevision, events: readonly WalkEvent[]): Walk {
  const visits: { file: string; names: string[]; depth: number; again: boolean }[] = [];
  const depths = new Map<string, number>();
  for (const event of events.filter(({ file }) => leafOf(file) === undefined)) {
    const last = visits.at(-1);
    if (last?.file === event.file) {
      if (!last.names.includes(event.name)) last.names.push(event.name);
      continue;
    }
    const again = depths.has(event.file) && event.file !== HANDLER;
    const depth = depths.get(event.file) ?? depthUnder(event, depths, last?.depth);
    depths.set(event.file, depth);
    visits.push({ file: event.file, names: [event.name], depth, again });
  }
  const counted = visits.filter(({ file }) => file !== HANDLER);
  const files = new Set(counted.map(({ file }) => file)).size;
  return {
    lane,
    revision,
    visits,
    files,
    reentries: counted.length - files,
    leaves: leafUses(events),
    falseLeaves: falseLeaves(events),
  };
}

/** One deeper than the spine file that called; what the event loop called stands under the file visited before. */
function depthUnder(event: WalkEvent, depths: ReadonlyMap<string, number>, before: number | undefined): number {
  const caller = event.under.findLast((file) => depths.has(file));
  const depth = caller === undefined ? before : depths.get(caller);
  return depth === undefined ? 0 : depth + 1;
}

function leafUses(events: readonly WalkEvent[]): LeafUse[] {
  const uses = new Map<string, LeafUse>();
  for (const { file } of events) {
    const leaf = leafOf(file);
    if (leaf !== undefined) uses.set(file, { file, leaf, entered: (uses.get(file)?.entered ?? 0) + 1 });
  }
  return [...uses.values()].toSorted((a, b) => a.leaf.kind.localeCompare(b.leaf.kind) || (a.file < b.file ? -1 : 1));
}

function falseLeaves(events: readonly WalkEvent[]): string[] {
  const found = events.flatMap((event) => {
    if (leafOf(event.file) !== undefined) return event.resumed ? [`${event.file} waits in ${event.name}`] : [];
    return event.under
      .filter((file) => leafOf(file) !== undefined && leafOf(file)?.callsBack !== true)
      .map((file) => `${file} calls ${event.file} (${event.name})`);
  });
  return [...new Set(found)];
}

/** The walk as text: one line per visit, deeper files further in, `↩` where a file is visited again. */
export function renderWalk(walk: Walk): string {
  const lines = walk.visits.map(({ file, names, depth, again }) => {
    const place = `${again ? "↩ " : "  "}${"  ".repeat(depth)}${file}`;
    return file === HANDLER ? place : `${place.padEnd(72)} ${names.join(", ")}`;
  });
  return `${lines.join("\n")}\n`;
}

export function renderLeaves(walk: Walk): string {
  return walk.leaves.map(({ file, leaf, entered }) => `${leaf.kind}: ${file} ×${entered} (${leaf.reason})\n`).join("");
}

/** Files that are visited again, most often first. */
export function renderReentries(walk: Walk): string {
  const times = new Map<string, number>();
  for (const { file, again } of walk.visits) if (again) times.set(file, (times.get(file) ?? 0) + 1);
  const sorted = [...times].toSorted(([, a], [, b]) => b - a);
  return sorted.map(([file, count]) => `${String(count).padStart(4)} ${file}\n`).join("");
}

export function summaryOf(walk: Walk): string {
  return `${walk.lane} ${walk.revision}: ${walk.files} files, ${walk.reentries} re-entries; ${walk.leaves.length} leaves`;
}
