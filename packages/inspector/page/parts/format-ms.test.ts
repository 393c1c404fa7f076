import { expect, test } from "vitest";
import { formatBytes } from "./format-bytes.js";
import { formatMs } from "./format-ms.js";

test("durations are told in the unit that people would use", () => {
  const shown = [0, 0.42, 2.34, 12.3, 999, 1_250, 125_000, Number.NaN].map(formatMs);
  expect(shown).toEqual(["0 ms", "0.42 ms", "2.3 ms", "12 ms", "999 ms", "1.25 s", "2 min 5 s", "unknown"]);
});

test("sizes are told in the unit that people would use", () => {
  const shown = [0, 812, 1_536, 12_582_912, 5 * 1024 ** 4].map(formatBytes);
  expect(shown).toEqual(["0 B", "812 B", "1.5 KiB", "12 MiB", "5120 GiB"]);
});
