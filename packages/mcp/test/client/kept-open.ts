import { onTestFinished } from "vitest";

/** Closes something at the end of the test that opened it, before what was opened earlier. */
export function kept<T extends { close(): Promise<unknown> }>(one: T): T {
  onTestFinished(() => one.close().then(() => undefined));
  return one;
}
