import { type Row, started } from "./row.js";

/** Rows of the command line. */
export const CLI_ROWS: readonly Row[] = [
  started("cli-version", "`parley --version`, over a process of Node that does nothing", 60),
  started("cli-call", "`parley call` of a tool over HTTP, over a process of Node that does nothing", 120),
];
