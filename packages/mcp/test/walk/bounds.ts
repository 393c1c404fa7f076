/** One revision of each era: the two ways a call can go. */
export const WALK_REVISIONS = ["2026-07-28", "2025-11-25"] as const;

/** The kinds of calls that are traced. */
export const WALK_LANES = ["plain", "progress", "elicit", "gateway", "task"] as const;

export type WalkRevision = (typeof WALK_REVISIONS)[number];
export type WalkLane = (typeof WALK_LANES)[number];

export interface WalkBounds {
  readonly files: number;
  readonly reentries: number;
}

/** The most that one call may enter: measured numbers, which a change may lower and never raise. */
export const WALK_BOUNDS: Readonly<Record<WalkLane, Readonly<Record<WalkRevision, WalkBounds>>>> = {
  plain: { "2026-07-28": { files: 24, reentries: 24 }, "2025-11-25": { files: 27, reentries: 23 } },
  progress: { "2026-07-28": { files: 30, reentries: 49 }, "2025-11-25": { files: 36, reentries: 66 } },
  elicit: { "2026-07-28": { files: 43, reentries: 143 }, "2025-11-25": { files: 48, reentries: 120 } },
  gateway: { "2026-07-28": { files: 36, reentries: 78 }, "2025-11-25": { files: 39, reentries: 79 } },
  task: { "2026-07-28": { files: 44, reentries: 133 }, "2025-11-25": { files: 59, reentries: 142 } },
};
