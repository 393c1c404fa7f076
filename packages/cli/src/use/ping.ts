import type { CommandRun } from "../commands/command.js";
import { openTarget } from "../target/open-target.js";
import { takeTarget } from "../target/target.js";
import { EXIT } from "../terminal/exit-code.js";
import { show } from "../terminal/shown.js";

/** `parley ping`: asks a server a few times whether it is there. */
export const ping: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const [target] = takeTarget(invocation);
  const count = options.count("count", 1) ?? 4;
  await using client = await openTarget(target, invocation);
  const times: number[] = [];
  for (let asked = 0; asked < Math.min(count, MOST); asked++) {
    const began = performance.now();
    await client.ping({ signal: terminal.io.signal });
    const ms = Math.round((performance.now() - began) * 100) / 100;
    times.push(ms);
    if (!terminal.json) terminal.print(show`answered in ${ms} ms`);
  }
  if (terminal.json) terminal.printJson({ server: client.serverInfo, ms: times });
  return EXIT.ok;
};

/** A ping measures; load belongs to other tools. */
const MOST = 1_000;
