import type { CommandRun } from "../commands/command.js";
import { openTarget } from "../target/open-target.js";
import { resolveTarget } from "../target/target.js";
import { EXIT } from "../terminal/exit-code.js";
import { show } from "../terminal/terminal-text.js";

/** Maximum number of pings, because `ping` is not a load test. A larger `--count` is reduced to it. */
const MAX_PINGS = 1_000;

/** `parley ping`: measures the response time of a server. */
export const ping: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const [target] = await resolveTarget(invocation);
  const count = Math.min(options.count("count", 1) ?? 4, MAX_PINGS);
  await using client = await openTarget(target, invocation);
  const times: number[] = [];
  for (let asked = 0; asked < count; asked++) {
    const began = performance.now();
    await client.ping({ signal: terminal.io.signal });
    const ms = Math.round((performance.now() - began) * 100) / 100;
    times.push(ms);
    if (!terminal.json) terminal.print(show`answered in ${ms} ms`);
  }
  const sorted = times.toSorted((one, other) => one - other);
  const [least = 0, median = 0, most = 0] = [0, 0.5, 1].map((share) => sorted[Math.floor(share * (sorted.length - 1))]);
  if (terminal.json) terminal.printJson({ server: client.serverInfo, ms: times, least, median, most });
  else if (count > 1) terminal.note(show`${terminal.noteStyle.dim(`min ${least}, median ${median}, max ${most} ms`)}`);
  return EXIT.ok;
};
