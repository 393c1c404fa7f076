/** One revision of each era: the two ways a call can go. */
export const WALK_REVISIONS = ["2026-07-28", "2025-11-25"] as const;

/** The most that one call may enter; a change that needs more has a better shape. */
export const WALK_BOUNDS: Readonly<Record<(typeof WALK_REVISIONS)[number], { files: number; reentries: number }>> = {
  "2026-07-28": { files: 30, reentries: 30 },
  "2025-11-25": { files: 30, reentries: 30 },
};
