/** A `fetch` that breaks one answer's stream, and what it has seen. */
export function cuttingFetch(): { fetch: typeof fetch; seen: { cuts: number; returns: number } };
