import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import type { Lane, LaneResult, LaneSettings, Measure } from "./lane.js";

/** What one run of a lane came to, as it is kept in `reports`. */
export interface LaneReport extends LaneResult {
  readonly lane: string;
  readonly what: string;
  readonly passed: boolean;
  readonly date: string;
  readonly seconds: number;
  readonly scale: number;
  readonly machine: Machine;
}

interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  /** Programs that wanted a processor, averaged over a minute: above `cores` the times below are too long. */
  readonly loadAtStart: number;
  readonly loadAtEnd: number;
}

/** Every lane is made to end within this time, on a machine of its own. */
export const LONGEST_MINUTES = 10;

const FOLDER = fileURLToPath(new URL("./reports/", import.meta.url));

/** Runs a lane. A lane that throws has failed, and its report says why. */
export async function runLane(lane: Lane, settings: LaneSettings): Promise<LaneReport> {
  const loadAtStart = load();
  const since = performance.now();
  const result = await inTime(lane.run(settings), settings.minutes).catch((error: unknown): LaneResult => {
    const says = error instanceof Error ? error.message : String(error);
    return { size: {}, measures: [], notes: [`The lane did not come to its end: ${says}`] };
  });
  const seconds = Math.round((performance.now() - since) / 100) / 10;
  return {
    lane: lane.name,
    what: lane.what,
    passed: hasPassed(result.measures),
    date: new Date().toISOString(),
    seconds,
    scale: settings.scale,
    machine: { ...machineFacts(), loadAtStart, loadAtEnd: load() },
    ...result,
  };
}

/** The lane itself cannot be stopped: whoever runs it leaves, and the programs that it started leave with it. */
async function inTime(running: Promise<LaneResult>, minutes: number): Promise<LaneResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took more than ${minutes} minutes`)), minutes * 60_000);
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function writeReport(report: LaneReport): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}${report.lane}.json`, `${JSON.stringify(report, null, 2)}\n`);
}

/** All reports that exist, by the name of their lane. */
export function readReports(): LaneReport[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
  // Written by `writeReport`.
  return files.sort().map((name) => JSON.parse(readFileSync(FOLDER + name, "utf8")) as LaneReport);
}

function hasPassed(measures: readonly Measure[]): boolean {
  return measures.length > 0 && measures.every(({ passed }) => passed !== false);
}

function machineFacts(): Omit<Machine, "loadAtStart" | "loadAtEnd"> {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
  };
}

function load(): number {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100;
}
