const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Formats a duration: `0.42 ms`, `12 ms`, `1.25 s`, `2 min 5 s`. */
export function formatMs(ms: number): string {
  if (!Number.isFinite(ms)) return "unknown";
  if (ms === 0) return "0 ms";
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(2)} s`;
  const seconds = Math.round(ms / SECOND);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
