import { McpError, type Tool } from "@parley/mcp/protocol";
import type { ConnectionFinder } from "../calls/callable-connection.js";
import type { ActionHandlers } from "../contract/actions.js";
import type { OfferKind } from "../contract/connections.js";
import { choiceOf, optionalFlagOf, optionalTextOf, recordOf, textOf, textsOf } from "../engine/read-input.js";
import type { OfferLists } from "./offer-lists.js";
import type { Subscriptions } from "./subscriptions.js";

const KINDS = ["tools", "resources", "templates", "prompts", "skills"] as const satisfies readonly OfferKind[];

/** Options of `offerActions`. */
export interface OfferActionsOptions {
  readonly connections: ConnectionFinder;
  readonly offers: OfferLists;
  readonly subscriptions: Subscriptions;
  /** Returns the address of the sandbox for apps. */
  sandbox(): string;
}

type OfferActionName = "list" | "offer" | "complete" | "subscribe" | "unsubscribe" | "appPage";

/** Creates the actions for the offers of servers: tools, resources, prompts and skills. */
export function offerActions(options: OfferActionsOptions): Pick<ActionHandlers, OfferActionName> {
  const { offers, subscriptions } = options;
  const connectionOf = (input: object) => options.connections.get(textOf(input, "connection"));
  return {
    list: (input) => {
      const refresh = optionalFlagOf(input, "refresh") ?? false;
      return offers.list(connectionOf(input), choiceOf(input, "kind", KINDS), refresh);
    },
    offer: (input) => offers.offer(connectionOf(input), choiceOf(input, "kind", KINDS), textOf(input, "name")),
    complete: (input) => {
      const argument = recordOf(input, "argument");
      const named = { name: textOf(argument, "name"), value: textOf(argument, "value") };
      return connectionOf(input).client.complete(
        completionTarget(recordOf(input, "target")),
        named,
        { ...textsOf(input, "settled") },
        // Completions change with every character that the user types, so caching them is not worth it.
        { cache: false },
      );
    },
    subscribe: async (input) => {
      await subscriptions.subscribe(connectionOf(input), textOf(input, "uri"));
      return {};
    },
    unsubscribe: async (input) => {
      await subscriptions.unsubscribe(textOf(input, "connection"), textOf(input, "uri"));
      return {};
    },
    appPage: async (input) => {
      const connection = connectionOf(input);
      const name = textOf(input, "tool");
      const { definition } = await offers.offer(connection, "tools", name);
      // Safe: the list contains tools, which the client has validated.
      const tool = definition as unknown as Tool;
      const page = await connection.client.extension(connection.extensions.apps).pageOf(tool, { cache: false });
      if (page !== undefined) return { page, sandbox: options.sandbox() };
      throw new McpError("invalid_params", `the tool "${name}" has no page`, { fix: "Call it like any other tool." });
    },
  };
}

function completionTarget(target: object): { prompt: string } | { resource: string } {
  const prompt = optionalTextOf(target, "prompt");
  return prompt === undefined ? { resource: textOf(target, "template") } : { prompt };
}
