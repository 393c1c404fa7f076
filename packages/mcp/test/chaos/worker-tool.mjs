// The tools of a server that run in processes of their own, which are struck down.
import { appendFileSync } from "node:fs";

const { CHAOS_RUNS = "", CHAOS_PIDS = "" } = process.env;
const WORK_MS = 10;

appendFileSync(CHAOS_PIDS, `${process.pid}\n`);

/** @param {string} word */
const tool =
  (word) =>
  async (/** @type {{ id: number }} */ { id }) => {
    appendFileSync(CHAOS_RUNS, `${id}\n`);
    await new Promise((resolve) => setTimeout(resolve, WORK_MS));
    return `${word} ${id}`;
  };

export const read = tool("read");
export const write = tool("write");
