import { McpError } from "../../protocol/error.js";
import type { ServerFacts } from "../call/facts.js";
import type { Registry } from "../call/registry.js";
import type { Hub } from "../changes/hub.js";
import { Logging } from "../changes/logging.js";
import { PeerSubscribers, RESOURCE_FILTER } from "../changes/peer-subscriber.js";
import { Subscriptions } from "../changes/subscriptions.js";
import type { PromptOffer } from "../prompts/prompt.js";
import type { ResourceOffer, ResourceTemplateOffer } from "../resources/resource.js";
import { ToolCalls } from "../tools/call.js";
import type { ToolOffer, ToolTypes } from "../tools/tool.js";
import { CompletionFeature } from "./completion.js";
import { Prompts } from "./prompts.js";
import { Resources } from "./resources.js";
import { Tools } from "./tools.js";
import { ResourceWatches } from "./watch.js";

/** What `server.add` takes: a tool, resource, resource template or prompt as a value. */
export type Offer = ToolOffer | ResourceOffer | ResourceTemplateOffer | PromptOffer;

/** The features of one server, connected to each other. */
export class Offers {
  readonly #registry: Registry;
  readonly toolCalls: ToolCalls;
  readonly tools: Tools;
  readonly resources: Resources;
  readonly prompts: Prompts;
  readonly peers: PeerSubscribers;
  readonly subscriptions: Subscriptions;
  readonly logging: Logging;

  constructor(facts: ServerFacts, registry: Registry, hub: Hub) {
    this.#registry = registry;
    this.toolCalls = new ToolCalls(facts);
    this.tools = new Tools(facts, registry, hub, this.toolCalls);
    this.resources = new Resources(facts, registry, hub, this.toolCalls.overflow);
    this.prompts = new Prompts(facts, registry, hub);
    this.peers = new PeerSubscribers(facts, registry, hub);
    this.subscriptions = new Subscriptions(facts, registry, hub, this.resources, this.peers);
    this.logging = new Logging(facts, this.peers);
    const completion = new CompletionFeature(this.prompts, this.resources);
    const watches = new ResourceWatches(facts, hub, this.resources);
    hub.watch(RESOURCE_FILTER, watches);
    this.resources.onChanged = () => watches.refresh();
    for (const feature of [this.tools, this.resources, this.prompts, completion, this.subscriptions, this.logging]) {
      registry.addFeature(feature);
    }
  }

  add(offer: Offer, replace: boolean): void {
    const list = offer.kind === "resourceTemplate" ? "resources" : `${offer.kind}s`;
    if (this.#registry.provided.has(list)) {
      throw new McpError("invalid_definition", `the ${list} of this server come from its handler object`, {
        fix: "Add it to the handler object, or mount a server that has it.",
      });
    }
    switch (offer.kind) {
      case "tool":
        return this.tools.add(withHandler(offer, offer.handler), replace);
      case "resource":
      case "resourceTemplate":
        return this.resources.add(withHandler(offer, offer.read), replace);
      case "prompt":
        return this.prompts.add(withHandler(offer, offer.handler), replace);
      default:
        throw unknownKind(offer);
    }
  }

  remove(kind: Offer["kind"], name: string): boolean {
    switch (kind) {
      case "tool":
        return this.tools.remove(name);
      case "resource":
      case "resourceTemplate":
        return this.resources.remove(kind, name);
      case "prompt":
        return this.prompts.remove(name);
      default:
        throw unknownKind(kind);
    }
  }
}

/** Checked at run time, because JavaScript programs tend to leave out the definition and pass the handler second. */
function withHandler<O extends Offer>(offer: O, handler: unknown): O {
  if (typeof offer.name !== "string" || offer.name === "") {
    throw new McpError("invalid_definition", `the name or URI of a ${label(offer)} must not be empty`);
  }
  if (typeof handler === "function") return offer;
  throw new McpError("invalid_definition", `the ${label(offer)} "${offer.name}" has no handler`, {
    fix: "Pass a name or URI, a definition (`{}` will do) and a function.",
  });
}

const label = ({ kind }: Offer) => (kind === "resourceTemplate" ? "resource template" : kind);

function unknownKind(what: unknown): McpError {
  const kind = typeof what === "string" ? what : (what as { kind?: unknown } | null)?.kind;
  return new McpError(
    "invalid_definition",
    `${JSON.stringify(kind) ?? "undefined"} is not a kind that a server can offer`,
    {
      fix: "Pass values made by `tool`, `resource`, `resourceTemplate` or `prompt`.",
    },
  );
}

/** The types of the prompts in a list of offers, by name. */
export type OfferedPrompts<L extends readonly Offer[]> = L[number] extends infer F
  ? { [K in F as K extends PromptOffer ? K["name"] : never]: K extends PromptOffer<string, infer A> ? A : never }
  : never;

/** The types of the tools in a list of offers, by name. */
// Through `infer`, because editors then show the tools, and not this name with the whole list.
export type OfferedTools<L extends readonly Offer[]> = L[number] extends infer F
  ? {
      [K in F as K extends ToolOffer ? K["name"] : never]: K extends ToolOffer<string, infer A, infer R>
        ? ToolTypes<A, R>
        : never;
    }
  : never;

/** The types of a mounted server's tools or prompts, by their names with the prefix. */
export type Mounted<P extends string, U> = { [K in keyof U & string as `${P}_${K}`]: U[K] };
