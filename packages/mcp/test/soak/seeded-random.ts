/** Numbers in [0, 1), the same ones in every run. */
export function seededRandom(seed: number): () => number {
  // Neighbouring seeds would begin with neighbouring numbers.
  let state = Math.imul(seed, 2654435761) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
