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
  plain: { "2026-07-28": { files: 26, reentries: 30 }, "2025-11-25": { files: 29, reentries: 30 } },
  progress: { "2026-07-28": { files: 44, reentries: 82 }, "2025-11-25": { files: 57, reentries: 218 } },
  elicit: { "2026-07-28": { files: 49, reentries: 173 }, "2025-11-25": { files: 66, reentries: 281 } },
  gateway: { "2026-07-28": { files: 56, reentries: 136 }, "2025-11-25": { files: 58, reentries: 141 } },
  task: { "2026-07-28": { files: 55, reentries: 210 }, "2025-11-25": { files: 79, reentries: 316 } },
};
