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
  plain: { "2026-07-28": { files: 22, reentries: 22 }, "2025-11-25": { files: 24, reentries: 21 } },
  progress: { "2026-07-28": { files: 28, reentries: 47 }, "2025-11-25": { files: 33, reentries: 63 } },
  elicit: { "2026-07-28": { files: 32, reentries: 89 }, "2025-11-25": { files: 41, reentries: 104 } },
  gateway: { "2026-07-28": { files: 34, reentries: 70 }, "2025-11-25": { files: 36, reentries: 70 } },
  task: { "2026-07-28": { files: 42, reentries: 126 }, "2025-11-25": { files: 56, reentries: 135 } },
};
