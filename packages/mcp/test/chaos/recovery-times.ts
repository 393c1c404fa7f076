const BOUNDS_MS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000] as const;
const WIDEST_BAR = 40;

/** How long servers took from the blow to the next answer, by classes. */
export class RecoveryTimes {
  /** One for each bound, and one for all that took longer. */
  readonly #counts: number[] = new Array(BOUNDS_MS.length + 1).fill(0);

  add(ms: number): void {
    const at = BOUNDS_MS.findIndex((bound) => ms <= bound);
    const index = at === -1 ? BOUNDS_MS.length : at;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  get total(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** The classes that hold something, each with its name. */
  classes(): [name: string, count: number][] {
    return this.#counts
      .map((count, at): [string, number] => [BOUNDS_MS[at] === undefined ? "longer" : `≤ ${BOUNDS_MS[at]} ms`, count])
      .filter(([, count]) => count > 0);
  }

  /** One line for each class, with a bar. */
  toString(): string {
    const classes = this.classes();
    const most = Math.max(1, ...classes.map(([, count]) => count));
    return classes
      .map(([name, count]) => {
        const bar = "#".repeat(Math.max(1, Math.round((count / most) * WIDEST_BAR)));
        return `${name.padStart(12)} ${String(count).padStart(6)} ${bar}`;
      })
      .join("\n");
  }
}
