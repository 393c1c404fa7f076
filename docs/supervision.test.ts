import { readFileSync } from "node:fs";
import { CIRCUIT_TRANSITIONS } from "@parley/mcp/host";
import { CHILD_TRANSITIONS, type Step, SUPERVISOR_TRANSITIONS } from "@parley/mcp/supervision";
import { describe, expect, it } from "vitest";
import { DEFAULT_START_MS, DEFAULT_STOP_MS } from "../packages/mcp/src/host/supervision/child-spec.js";
import { DEFAULT_BACK_OFF, DEFAULT_INTENSITY } from "../packages/mcp/src/host/supervision/supervisor-options.js";
import { region } from "./region.js";

type Table = readonly Pick<Step<string, string>, "from" | "event" | "to">[];

/** The table as a drawing; steps between the same two states share an arrow. */
function drawing(table: Table, first: string): string {
  const arrows = new Map<string, string[]>();
  for (const { from, event, to } of table) {
    const arrow = `${from} --> ${to}`;
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), event]);
  }
  const lines = [...arrows].map(([arrow, events]) => `  ${arrow}: ${events.join(", ")}\n`);
  return `\`\`\`mermaid\nstateDiagram-v2\n  [*] --> ${first}\n${lines.join("")}\`\`\`\n`;
}

function states(table: readonly Step<string, string>[]): string {
  const rows = table.map(({ from, event, to, when }) => `| ${from} | ${event} | ${to} | ${when} |\n`);
  return `| from | event | to | when |\n|---|---|---|---|\n${rows.join("")}`;
}

/** What changes the state of a circuit. */
const CIRCUIT: Table = Object.entries(CIRCUIT_TRANSITIONS)
  .flatMap(([from, next]) => Object.entries(next).map(([event, to]) => ({ from, event, to })))
  .filter(({ from, to }) => from !== to);

it("the page about hosts shows when a circuit changes", () => {
  const text = drawing(CIRCUIT, "closed");
  expect(region("docs/host.md", "circuit drawing", text)).toBe(text);
});

describe("the page about supervision", () => {
  it.each([
    ["child drawing", drawing(CHILD_TRANSITIONS, "waiting")],
    ["child states", states(CHILD_TRANSITIONS)],
    ["supervisor drawing", drawing(SUPERVISOR_TRANSITIONS, "new")],
    ["supervisor states", states(SUPERVISOR_TRANSITIONS)],
  ])("shows what the tables say: %s", (name, text) => {
    expect(region("docs/supervision.md", name, text)).toBe(text);
  });

  it.each([
    `${DEFAULT_START_MS / 1000} s |`,
    `${DEFAULT_STOP_MS / 1000} s |`,
    `More than ${DEFAULT_INTENSITY.restarts} restarts within ${DEFAULT_INTENSITY.withinMs / 1000} s`,
    `${DEFAULT_BACK_OFF.firstMs / 1000} s, then ${DEFAULT_BACK_OFF.firstMs / 500} s`,
    `up to ${DEFAULT_BACK_OFF.longestMs / 1000} s (\`backOff\`), each ${DEFAULT_BACK_OFF.jitter * 100} %`,
  ])("names the defaults of the code: %s", (text) => {
    expect(readFileSync(new URL("supervision.md", import.meta.url), "utf8")).toContain(text);
  });
});
