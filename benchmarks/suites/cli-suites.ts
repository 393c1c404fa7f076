import { type Effort, here, one, type Suite } from "../contender.js";
import { commandTime, SERVER_URL } from "../measure/command-time.js";

/** The built command line, as `npm run build` leaves it. */
const PARLEY = "packages/cli/bin/parley.js";

const rounds = (effort: Effort) => (effort.quick ? 3 : Math.max(15, effort.rounds));

const command = (id: string, title: string, ...args: string[]): Suite => ({
  id,
  measure: commandTime,
  warmUp: false,
  rounds,
  contenders: [
    one("plain", "a process of Node that does nothing", here("")),
    one("parley", title, here(PARLEY, ...args)),
  ],
});

/** What the command line takes to start. */
export const CLI_SUITES: readonly Suite[] = [
  command("cli-version", "`parley --version`", "--version"),
  command("cli-call", "`parley call`", "call", SERVER_URL, "add", "a=1", "b=2"),
];
