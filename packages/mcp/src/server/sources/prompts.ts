import { isThenable } from "../../encoding/maybe-promise.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { GetPromptResult, ListPromptsResult, Prompt as WirePrompt } from "../../protocol/features/prompts.js";
import type { ParseResult } from "../../schema/parse.js";
import { checkScopes } from "../call/check-scopes.js";
import type { ServerFacts } from "../call/facts.js";
import type { Feature, MethodHandler } from "../call/feature.js";
import type { Registry } from "../call/registry.js";
import type { ServerCall } from "../call/server-call.js";
import type { Hub } from "../changes/hub.js";
import type { PromptOffer } from "../prompts/prompt.js";
import { toPromptResult } from "../prompts/prompt-result.js";
import { badArguments, type ReadyPrompt, readyPrompt } from "../prompts/ready-prompt.js";
import { Catalogue } from "./catalogue.js";
import type { CompletableArguments, CompletionSource } from "./completion.js";
import type { ListShape } from "./pages.js";

const PROMPTS: ListShape<WirePrompt, ListPromptsResult> = {
  name: "prompts",
  keyOf: (prompt) => prompt.name,
  result: (prompts, next) => ({ prompts, ...next }),
};

/** The prompts of one server. */
export class Prompts implements Feature, CompletionSource {
  readonly #facts: ServerFacts;
  readonly #registry: Registry;
  readonly #hub: Hub;
  readonly #prompts: Catalogue<WirePrompt, ReadyPrompt, ListPromptsResult>;
  /** Stays true after the last prompt is removed, because clients that saw the capability may still list. */
  #used: boolean;
  #completes = false;
  readonly handlers: Readonly<Record<string, MethodHandler>>;

  constructor(facts: ServerFacts, registry: Registry, hub: Hub) {
    this.#facts = facts;
    this.#registry = registry;
    this.#hub = hub;
    this.#used = registry.declares("prompts");
    this.#prompts = new Catalogue(facts, "prompt", PROMPTS);
    this.handlers = {
      "prompts/list": (call) => {
        call.cache = facts.hints.prompts;
        return this.#prompts.list(call);
      },
      "prompts/get": (call) => this.#get(call),
    };
  }

  capabilities(): ServerCapabilities {
    if (!this.#used) return {};
    return { prompts: this.#facts.options.listChanged === false ? {} : { listChanged: true } };
  }

  add(prompt: PromptOffer, replace = false): void {
    this.#prompts.add(readyPrompt(prompt, this.#facts), replace);
    this.#changed();
  }

  remove(name: string): boolean {
    const removed = this.#prompts.remove(name);
    if (removed) this.#changed();
    return removed;
  }

  get completes(): boolean {
    return this.#completes;
  }

  completable(name: string, call: ServerCall): CompletableArguments | undefined {
    const prompt = this.#prompts.find(name, call);
    checkScopes("prompt", name, prompt?.scopes, call);
    return prompt?.arguments;
  }

  #changed(): void {
    this.#used = true;
    this.#completes = [...this.#prompts.all()].some((prompt) =>
      [...prompt.arguments.values()].some((completer) => completer !== undefined),
    );
    this.#registry.changed();
    this.#hub.listChanged("prompts");
  }

  #get(call: ServerCall): GetPromptResult | Promise<GetPromptResult> {
    const name = call.stringParam("name");
    const prompt = this.#prompts.find(name, call);
    if (prompt === undefined) {
      throw this.#prompts.unknown(name, call);
    }
    checkScopes("prompt", name, prompt.scopes, call);
    const parsed = prompt.parse(stringValues(name, call.objectParam("arguments")));
    return isThenable(parsed)
      ? parsed.then((settled) => runPrompt(prompt, settled, call))
      : runPrompt(prompt, parsed, call);
  }
}

function runPrompt(
  prompt: ReadyPrompt,
  parsed: ParseResult,
  call: ServerCall,
): GetPromptResult | Promise<GetPromptResult> {
  const { key, wire } = prompt;
  if (!parsed.ok) throw badArguments(key, parsed);
  const value = prompt.handler(parsed.value, call.ctx);
  if (!isThenable(value)) return toPromptResult(key, value, wire.description);
  return Promise.resolve(value).then((settled) => toPromptResult(key, settled, wire.description));
}

function stringValues(name: string, args: Record<string, unknown>): Record<string, string> {
  const odd = Object.entries(args).find(([, value]) => typeof value !== "string");
  if (odd === undefined) return args as Record<string, string>;
  throw new McpError("invalid_params", `the argument "${odd[0]}" of prompt "${name}" must be a string`);
}
