import { type SearchDetail, ToolSearch } from "@parley/mcp/host";
import type { CommandRun } from "../commands/command.js";
import { EXIT } from "../terminal/exit-code.js";
import { show, showIndented } from "../terminal/terminal-text.js";
import { UsageError } from "../terminal/usage-error.js";
import { openServer } from "./open-server.js";

const DETAILS: readonly string[] = ["name", "summary", "full"] satisfies SearchDetail[];

/** `parley search`: prints the tools that match some words, best first. */
export const search: CommandRun = async (invocation) => {
  const { options, terminal } = invocation;
  const limit = Math.min(options.count("limit", 1) ?? 10, 100);
  const asked = options.text("detail") ?? "summary";
  // Safe: the option allows only these three values.
  const detail = (DETAILS.includes(asked) ? asked : "summary") as SearchDetail;
  await using server = await openServer(invocation, ([first]) => {
    if (first === undefined) throw new UsageError("which tools?", "Add words that describe what the tool should do.");
  });
  const name = server.client.serverInfo?.name ?? "";
  const index = new ToolSearch();
  index.update(await server.client.allTools({ signal: terminal.io.signal }), () => name);
  const hits = index.search(server.words.join(" "), { limit, detail });
  if (terminal.json) terminal.printJson({ tools: hits, searched: index.size });
  else if (hits.length === 0) terminal.note(show`None of the ${index.size} tools matches these words.`);
  else if (detail === "full") {
    for (const { tool } of hits) {
      terminal.print(show`${terminal.style.cyan(tool?.name ?? "")}`);
      terminal.print(showIndented(JSON.stringify(tool, undefined, 2)));
    }
  } else {
    const { cyan, dim } = terminal.style;
    terminal.printTable(hits.map((hit) => [cyan(hit.name), hit.arguments?.join(", ") ?? "", dim(hit.summary ?? "")]));
  }
  return hits.length === 0 ? EXIT.failed : EXIT.ok;
};
