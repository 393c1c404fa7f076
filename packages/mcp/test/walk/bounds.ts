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
  plain: { "2026-07-28": { files: 24, reentries: 26 }, "2025-11-25": { files: 27, reentries: 26 } },
  progress: { "2026-07-28": { files: 32, reentries: 54 }, "2025-11-25": { files: 38, reentries: 73 } },
  elicit: { "2026-07-28": { files: 46, reentries: 156 }, "2025-11-25": { files: 50, reentries: 127 } },
  gateway: { "2026-07-28": { files: 45, reentries: 108 }, "2025-11-25": { files: 48, reentries: 111 } },
  task: { "2026-07-28": { files: 52, reentries: 197 }, "2025-11-25": { files: 69, reentries: 278 } },
};
