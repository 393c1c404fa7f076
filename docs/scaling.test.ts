import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { region } from "./region.js";

interface Report {
  readonly date: string;
  readonly machine: {
    readonly node: string;
    readonly cores: number;
    readonly cpu: string;
    readonly loadAtStart: number;
    readonly loadAtEnd: number;
  };
  readonly measures: readonly { readonly name: string; readonly value: number }[];
}

const REPORT = join(resolve(import.meta.dirname, ".."), "packages/mcp/test/soak/reports/costs.json");
// Written by the lane `costs`.
const report = JSON.parse(readFileSync(REPORT, "utf8")) as Report;

function figureOf(name: string): number {
  const value = report.measures.find((measure) => measure.name === name)?.value;
  if (value === undefined) throw new Error(`the report has no "${name}"`);
  return value;
}

const TASK = "a task of 3 steps";
const OWNED_TASK = "a task of a principal that keeps many";
const MORE_NODES = "a session at one more node: memory of Redis";
const ACTS = [
  "a call without a session",
  "a call in a session",
  "opening a session",
  "ending a session",
  "a call with one event",
  "a call with 20 events",
  TASK,
  OWNED_TASK,
  "a change told to ",
];
const HELD = ["a session", "a stream of a session", "a stream without a session", "a finished task"];

const whole = (value: number) => Math.round(value).toLocaleString("en");

function actsTable(): string {
  const rows = ACTS.map((begin) => {
    const act = report.measures.find(({ name }) => name.startsWith(begin))?.name.split(":")[0] ?? begin;
    const of = (what: string) => figureOf(`${act}: ${what}`);
    const commands = of("commands to Redis");
    const cells = [
      whole(of("processor of the node")),
      commands.toFixed(commands < 10 ? 1 : 0),
      // Redis also counts who looks at it.
      commands === 0 ? "0" : whole(of("processor of Redis")),
      commands === 0 ? "0" : whole(of("bytes to and from Redis")),
    ];
    return `| ${act} | ${cells.join(" | ")} |\n`;
  });
  return `| | node, µs | Redis, commands | Redis, µs | Redis, bytes |\n|---|--:|--:|--:|--:|\n${rows.join("")}`;
}

function heldTable(): string {
  const rows = HELD.map((what) => {
    const cells = ["heap of the node", "memory of Redis", "keys of Redis"].map((where) => {
      const value = figureOf(`${what}: ${where}`);
      return Math.max(0, Math.round(value)).toLocaleString("en");
    });
    return `| ${what} | ${cells.join(" | ")} |\n`;
  });
  const heap = whole(figureOf("a session: heap of the node"));
  rows.splice(
    1,
    0,
    `| a session, for each further node that serves it | ${heap} | ${whole(figureOf(MORE_NODES))} | 0 |\n`,
  );
  return `| | node, bytes of heap | Redis, bytes | Redis, keys |\n|---|--:|--:|--:|\n${rows.join("")}`;
}

const MILLION = 1e6;
const GIGA = 2 ** 30;
/** Calls of a second. */
const CALLS = 1e5;
/** How busy a processor may be, so that it answers in time. */
const BUSY = 0.6;

function sums(): string {
  const cores = (act: string, where: string, perSecond: number) =>
    Math.ceil((figureOf(`${act}: processor of ${where}`) * perSecond) / 1e6 / BUSY);
  const gigabytes = (what: string, where: string) => ((figureOf(`${what}: ${where}`) * MILLION) / GIGA).toFixed(1);
  const gigabits = (act: string, perSecond: number) =>
    `${((figureOf(`${act}: bytes to and from Redis`) * perSecond * 8) / 1e9).toFixed(2)} Gbit/s`;
  const session = "a call in a session";
  const nodes = cores(session, "the node", CALLS);
  const everywhere = figureOf("a session: memory of Redis") + (nodes - 1) * figureOf(MORE_NODES);
  const rows = [
    ["10^6 sessions, each served by one node: memory of Redis", `${gigabytes("a session", "memory of Redis")} GiB`],
    [
      `10^6 sessions, each served by all of ${nodes} nodes: memory of Redis`,
      `${((everywhere * MILLION) / GIGA).toFixed(1)} GiB`,
    ],
    ["10^6 sessions that were used at a node: its heap", `${gigabytes("a session", "heap of the node")} GiB`],
    ["10^6 streams that wait: heap of all nodes", `${gigabytes("a stream of a session", "heap of the node")} GiB`],
    ["10^5 calls a second without sessions: cores for nodes", cores("a call without a session", "the node", CALLS)],
    ["10^5 calls a second in sessions: cores for nodes", cores(session, "the node", CALLS)],
    ["10^5 calls a second in sessions: cores for Redis", cores(session, "Redis", CALLS)],
    ["10^5 calls a second in sessions: traffic of Redis", gigabits(session, CALLS)],
    ["10^6 sessions that open within 10 minutes: cores for Redis", cores("opening a session", "Redis", MILLION / 600)],
    ["10^3 tasks a second without principals: cores for nodes", cores(TASK, "the node", 1e3)],
    ["10^3 tasks a second without principals: cores for Redis", cores(TASK, "Redis", 1e3)],
    ["10^3 tasks a second of principals that keep hundreds each: cores for nodes", cores(OWNED_TASK, "the node", 1e3)],
    ["10^3 tasks a second of principals that keep hundreds each: traffic of Redis", gigabits(OWNED_TASK, 1e3)],
  ];
  return `| | |\n|---|--:|\n${rows.map(([what, value]) => `| ${what} | ${value} |\n`).join("")}`;
}

function machine(): string {
  const { date, machine: of } = report;
  const load = `${Math.round(Math.min(of.loadAtStart, of.loadAtEnd))} to ${Math.round(Math.max(of.loadAtStart, of.loadAtEnd))}`;
  const where = `Node ${of.node} on ${of.cores} × ${of.cpu}, which the node, Redis and the clients shared`;
  return `Measured on ${date.slice(0, 10)} with ${where}, at a load of ${load}: on a quiet machine, processor times are lower.\n`;
}

describe("the figures about scaling", () => {
  it.each([
    ["acts", actsTable],
    ["held", heldTable],
    ["sums", sums],
    ["machine", machine],
  ])("are those of the report: %s; UPDATE_DOCS=1 renews them", (name, make) => {
    expect(region("docs/scaling.md", name, make())).toBe(make());
  });
});
