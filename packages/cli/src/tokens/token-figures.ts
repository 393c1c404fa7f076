import type { Terminal } from "../terminal/terminal.js";

/** A figure as people read it. */
export function withCommas(figure: number): string {
  return figure.toLocaleString("en");
}

/** A figure and what it counts. */
export function counted(count: number, what: string): string {
  return `${withCommas(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** Says whether the tokens of all tools keep to their budget. */
export function printTokenBudget(sum: number, budget: number, terminal: Terminal): void {
  const over = sum - budget;
  terminal.print(
    over > 0
      ? terminal.style.red(`over the budget of ${withCommas(budget)} by ${withCommas(over)}`)
      : terminal.style.green(`within the budget of ${withCommas(budget)}, ${withCommas(-over)} left`),
  );
}
