import { readFileSync } from "node:fs";
import type { Figures } from "../contender.js";

/** Length of the kernel's tick in microseconds; fixed by its interface to programs. */
const TICK_MICROS = 10_000;

/** Processor time that a process has used so far, in microseconds; undefined where the system does not tell. */
export function processorTime(pid: number | undefined): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program, in parentheses, may hold anything; times of program and kernel are the 12th and 13th after it.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
  } catch {
    return undefined;
  }
}

/** The most memory that a process ever held; nothing where the system does not tell. */
export function peakMemory(pid: number | undefined): Figures {
  try {
    const found = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return found === null ? {} : { peakMegabytes: Number(found[1]) / 1024 };
  } catch {
    return {};
  }
}

/** The memory that a process holds now, in megabytes; undefined where the system does not tell. */
export function residentMemory(pid: number | undefined): number | undefined {
  try {
    const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return found === null ? undefined : Number(found[1]) / 1024;
  } catch {
    return undefined;
  }
}

/** Processor time for each of `count` answers, from what the process had used before and has used now. */
export function timePerAnswer(before: number | undefined, pid: number | undefined, count: number): Figures {
  const after = processorTime(pid);
  return before === undefined || after === undefined || count === 0 ? {} : { cpuMicros: (after - before) / count };
}
