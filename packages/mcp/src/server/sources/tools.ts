import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import type { ListToolsResult, Tool as WireTool } from "../../protocol/features/tools.js";
import { isSessionless } from "../../protocol/tool-mode.js";
import type { ServerFacts } from "../call/facts.js";
import type { Feature, MethodHandler } from "../call/feature.js";
import type { Registry } from "../call/registry.js";
import type { ServerCall } from "../call/server-call.js";
import type { Hub } from "../changes/hub.js";
import type { ToolCalls } from "../tools/call.js";
import { type ReadyTool, readyTool } from "../tools/ready-tool.js";
import type { ToolOffer } from "../tools/tool.js";
import { Catalogue } from "./catalogue.js";
import type { ListShape } from "./pages.js";

const TOOLS: ListShape<WireTool, ListToolsResult> = {
  name: "tools",
  keyOf: (tool) => tool.name,
  result: (tools, next) => ({ tools, ...next }),
};

/** Options of tools that need an extension, the entry that has it, and the option of the server if it is not `extensions`. */
const EXTENSION_OPTIONS: readonly ["task" | "ui" | "rate", entry: string, given?: string][] = [
  ["task", "tasks"],
  ["ui", "apps"],
  ["rate", "limits", "quotas: quotas()"],
];

/** The tools of one server. */
export class Tools implements Feature {
  readonly #facts: ServerFacts;
  readonly #registry: Registry;
  readonly #hub: Hub;
  readonly #calls: ToolCalls;
  readonly #tools: Catalogue<WireTool, ReadyTool, ListToolsResult>;
  /** Stays true after the last tool is removed, because clients that saw the capability may still list. */
  #used: boolean;
  readonly handlers: Readonly<Record<string, MethodHandler>>;
  readonly checks: NonNullable<Feature["checks"]>;
  checksNothing = true;
  /** Knows the tools of servers behind this one. */
  elsewhere: ((name: string) => boolean) | undefined;

  constructor(facts: ServerFacts, registry: Registry, hub: Hub, calls: ToolCalls) {
    this.#facts = facts;
    this.#registry = registry;
    this.#hub = hub;
    this.#calls = calls;
    this.#used = registry.declares("tools");
    this.#tools = new Catalogue(facts, "tool", TOOLS);
    this.handlers = {
      "tools/list": (call) => {
        call.cache = facts.hints.tools;
        return this.#tools.list(call);
      },
      "tools/call": calls.handlerOf(this.#tools),
    };
    this.checks = { "tools/call": calls.checkOf(this.#tools) };
  }

  capabilities(): ServerCapabilities {
    return this.#used ? { tools: this.#facts.options.listChanged === false ? {} : { listChanged: true } } : {};
  }

  /** Offers a tool. With `replace` it replaces the one with the same name, if there is one. */
  add(tool: ToolOffer, replace = false): void {
    const compiled = readyTool(tool, this.#facts, (name, running) => this.#calls.slotsOf(name, running));
    const ready = this.#extended(compiled, tool);
    this.#tools.add(ready, replace);
    if (ready.requires.length > 0 || ready.headers.length > 0) this.checksNothing = false;
    if (ready.resultLimit?.overflow === "link") this.#calls.overflow.inUse = true;
    this.#changed(tool.name, tool);
  }

  /** The tool with what extensions add to its entry in the list. */
  #extended(ready: ReadyTool, tool: ToolOffer): ReadyTool {
    const { toolOptions } = this.#registry;
    for (const [option, entry, given = `extensions: [${entry}()]`] of EXTENSION_OPTIONS) {
      if (tool.definition[option] === undefined || toolOptions.has(option)) continue;
      throw new McpError("invalid_definition", `\`${option}\` of tool "${tool.name}" needs an extension`, {
        fix: `Pass \`${given}\` to the server, from "@parley/mcp/${entry}".`,
      });
    }
    const wire = { ...ready.wire };
    for (const extend of toolOptions.values()) Object.assign(wire, extend(tool, wire));
    return { ...ready, wire };
  }

  /** Whether this caller can call a tool of this name. */
  knows(name: string, call: ServerCall): boolean {
    return this.#tools.find(name, call) !== undefined || this.elsewhere?.(name) === true;
  }

  remove(name: string): boolean {
    const removed = this.#tools.remove(name);
    if (removed) this.#changed(name);
    return removed;
  }

  get needsSession(): boolean {
    const tools = [...this.#tools.all()];
    // A tool that requires something of the client asks it.
    return tools.length === 0 || !tools.every(({ wire, requires }) => isSessionless(wire) && requires.length === 0);
  }

  /** Disposes of what handlers hold: the workers of isolated tools. */
  async close(): Promise<void> {
    await Promise.all([...this.#tools.all()].map(({ handler }) => handler[Symbol.asyncDispose]?.()));
  }

  #changed(name: string, tool?: ToolOffer): void {
    this.#used = true;
    this.#registry.toolChanged?.(name, tool);
    this.#registry.changed();
    this.#hub.listChanged("tools");
  }
}
