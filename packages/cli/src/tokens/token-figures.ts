import type { Terminal } from "../terminal/terminal.js";

/** Formats a number with thousands separators. */
export function withCommas(figure: number): string {
  return figure.toLocaleString("en");
}

/** Formats a count with its noun, in the plural unless the count is 1. */
export function counted(count: number, what: string): string {
  return `${withCommas(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** Prints whether the tokens of all tools are within the budget. */
export function printTokenBudget(sum: number, budget: number, terminal: Terminal): void {
  const over = sum - budget;
  terminal.print(
    over > 0
      ? terminal.style.red(`over the budget of ${withCommas(budget)} by ${withCommas(over)}`)
      : terminal.style.green(`within the budget of ${withCommas(budget)}, ${withCommas(-over)} left`),
  );
}
