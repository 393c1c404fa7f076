import type { Tool } from "@parley/mcp/protocol";
import type { ConnectionFinder } from "../calls/called-connection.js";
import type { ActionHandlers } from "../contract/actions.js";
import { PROVIDERS } from "../contract/model-view.js";
import { choiceOf, textOf } from "../engine/read-input.js";
import { KeptFindings } from "./kept-findings.js";
import { KeptTools } from "./kept-tools.js";
import { modelViewOf } from "./model-view-of.js";

/** What the room needs of the others. */
export interface ModelActionsOptions {
  readonly connections: ConnectionFinder;
  /** Gives what counts the tokens of a text. Default: an estimate, and the view says so. */
  readonly loadTokenizer?: (() => Promise<(text: string) => number>) | undefined;
}

/** Shows the tools of a server as a model gets them. */
export function modelActions({ connections, loadTokenizer }: ModelActionsOptions): Pick<ActionHandlers, "modelView"> {
  const kept = new KeptFindings();
  const lists = new KeptTools();
  return {
    async modelView(input) {
      const provider = choiceOf(input, "provider", PROVIDERS);
      const connection = connections.get(textOf(input, "connection"));
      const { client, extensions } = connection;
      const { tools, cut } = await lists.of(connection);
      const forModels = client.extension(extensions.apps).toolsForModel(withoutRepeats(tools));
      const { instructions = "" } = client;
      const countTokens = await loadTokenizer?.();
      const findings = await kept.of(tools, countTokens);
      return modelViewOf({ tools: forModels, cut, instructions, findings }, provider, countTokens);
    },
  };
}

/** Providers refuse a name that is there twice, so that only the first tool of a name is offered. */
function withoutRepeats(tools: readonly Tool[]): Tool[] {
  const names = new Set<string>();
  return tools.filter(({ name }) => names.size < names.add(name).size);
}
