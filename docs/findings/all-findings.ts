import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "./finding.js";

const numbered = (source: string, letter: string, last: number) =>
  Array.from({ length: last }, (_, index) => `${source} ${letter}${index + 1}`);

const RULES =
  "BASE-05 BASE-09 BASE-12 BASE-25 BASE-28 BASE-29 BASE-33 BASE-38 BASE-45 LIFE-03 LIFE-06 LIFE-09 LIFE-13 LIFE-14 VER-03 " +
  "ERA-01 ERA-16 ERA-17 ERA-19 HTTP25-12 HTTP25-13 HTTP25-14 HTTP25-38 HTTP26-06 HTTP26-09 HTTP26-13 HTTP26-22 HTTP26-27 " +
  "HTTP26-30 HTTP26-33 HTTP26-34 HTTP26-40 SSE24-09 TOOL-11 SUB-03 SUB-06 COMP-04 LOG-05 CACHE-01 CACHE-09 PROG-03 CANC-05 " +
  "PING-01 MRTR-06 ELIC-02 ELIC-14 EXT-07";
const ROWS =
  "A08 A30 A31 A35 A36 A41 A45 A57 A60 B14 B15 B19 B20 B32 D04 D16 D25 D33 D38 E23 E25 E37 E39 F15 F23 F24 F25 G02 G04 G05 G06 " +
  "G08 G14 G19 P3 P5 P9 P14 P15 P19 P22";

const numbers = (source: string, list: string) => list.split(" ").map((number) => `${source} ${number}`);

/** The second round: authorization, hosts and extensions, nodes, new users, promised rows. */
const SECOND_ROUND: readonly string[] = [
  ...numbers("auth", "H1 H2 M1 M2 M3 M4 M5 M6 M7 L1 L2 L3 L4 L5 L6 L7 L8 L9 L10 L11 L12"),
  ...numbers("host", "H1 M1 M2 M3 M4 M5 L1 L2 L3 L4 L5 L6 L7 L8 L9 L10 L11 L12 L13"),
  ...numbers("scale", "T1 T2 T3 T4 T9 T10 T11 T12 T13 T14"),
  ...numbers("newcomer", "H3 H4 M1 M2 M3 M4 M5 M6 M7 M10 M11 M17 L1 L2 L3 L4 L6 L7 L8 L9 L10 L11 L12 L13 L14 L15"),
  ...numbers("row", "C04 C05 C06 C13 C23 E06 F20 F22 G07"),
  ...numbers("regression", "1 2 3"),
  ...numbers("audit", "1 2 3 4 5 6 7 8"),
  ...numbers("seed", "1 2 3 4 8 9"),
  ...numbers("field", "CIMD PAR token-exchange private-schemes nested-skills requires notification-middleware referee"),
];

/** Every id that must be in the table. */
export const ALL_IDS: readonly string[] = [
  ...numbered("defect", "D", 28),
  ...numbered("attack", "F", 25),
  ...numbered("newcomer", "A", 8),
  ...numbered("newcomer", "B", 19),
  ...numbered("newcomer", "T", 8),
  ...RULES.split(" ").map((rule) => `rule ${rule}`),
  ...ROWS.split(" ").map((row) => `row ${row}`),
  ...SECOND_ROUND,
];

/** What the files of this folder say, in the order of `ALL_IDS`. */
export function readFindings(): Finding[] {
  const findings = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith(".json"))
    // Each file holds an array of findings; the test beside this file looks at each of them.
    .flatMap((file) => JSON.parse(readFileSync(join(import.meta.dirname, file), "utf8")) as Finding[]);
  return findings.sort((a, b) => ALL_IDS.indexOf(a.id) - ALL_IDS.indexOf(b.id));
}
