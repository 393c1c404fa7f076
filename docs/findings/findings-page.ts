import type { Finding } from "./finding.js";

const cell = (text: string) => text.replaceAll("|", "\\|");

function testCell({ tests = [], mutants = [] }: Finding): string {
  const held = tests.map((test) => {
    const [path = "", title = ""] = test.split(" › ");
    return `[${path.split("/").at(-1)}](../../${path})${title === "" ? "" : `: ${cell(title)}`}`;
  });
  return [...held, ...mutants.map((name) => `mutant \`${name}\``)].join("<br>");
}

/** The page that lists every finding with the test that holds it. */
export function findingsPage(findings: readonly Finding[]): string {
  const left = findings.filter(({ not }) => not !== undefined);
  return [
    "# Findings",
    "",
    "What reviews, attacks, an audit against the specification and new users found, and the test that keeps each from coming",
    "back. This page is generated from `docs/findings`.",
    "",
    `${findings.length} findings, ${findings.length - left.length} repaired, ${left.length} deliberately left.`,
    "",
    "| id | weight | what was found | held by | verdict |",
    "|---|---|---|---|---|",
    ...findings.map(
      (one) =>
        `| ${one.id} | ${one.weight} | ${cell(one.finding)} | ${testCell(one)} | ${one.not === undefined ? "repaired" : `left: ${cell(one.not)}`} |`,
    ),
    "",
  ].join("\n");
}
