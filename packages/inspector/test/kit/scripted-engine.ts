import { EventEmitter } from "node:events";
import { McpError } from "@parley/mcp";
import type { ActionHandlers, ActionName } from "../../src/contract/actions.js";
import type { InspectorState } from "../../src/contract/inspector-state.js";
import type { EntrySummary } from "../../src/contract/timeline.js";
import type { InspectorEngine } from "../../src/engine/inspector-engine.js";

/** An engine without connections, for tests of what is around it: it notes what it is asked, and tells what a test wants. */
export class ScriptedEngine implements InspectorEngine {
  /** Actions that arrived, with their inputs. */
  readonly asked: { readonly name: string; readonly input: unknown }[] = [];
  readonly handlers: ActionHandlers;
  /** What `state` tells besides; grows a state at will. */
  version = "0.0.0";
  sandbox = "";
  readonly #changes = new EventEmitter();
  #entries: EntrySummary[] = [];
  #next = 0;

  constructor(handlers: Partial<ActionHandlers> = {}) {
    const names: readonly ActionName[] = ["clear", "connectUrl", "importSession", "entry", "connect"];
    const noting = names.map((name) => [name, (input: unknown) => this.#note(name, input)] as const);
    // A test calls no other action than these.
    this.handlers = { ...Object.fromEntries(noting), ...handlers } as unknown as ActionHandlers;
  }

  state(): InspectorState {
    const first = this.#entries[0]?.seq ?? this.#next;
    return {
      version: this.version,
      targets: [],
      connections: [],
      calls: [],
      questions: [],
      subscriptions: [],
      modelCommand: false,
      timeline: { first, next: this.#next, bytes: 0 },
    };
  }

  entries(from: number, limit: number): readonly EntrySummary[] {
    return this.#entries.filter(({ seq }) => seq >= from).slice(0, limit);
  }

  onChange(listener: () => void): () => void {
    this.#changes.on("change", listener);
    return () => this.#changes.off("change", listener);
  }

  setSandbox(url: string): void {
    this.sandbox = url;
  }

  async close(): Promise<void> {}

  /** How many follow its changes. */
  get followers(): number {
    return this.#changes.listenerCount("change");
  }

  changed(): void {
    this.#changes.emit("change");
  }

  /** Adds entries to the timeline; at most `kept` stay. */
  add(count: number, { label = "ping", kept = 20_000 } = {}): void {
    const more = Array.from({ length: count }, (_, at) => ({
      seq: this.#next + at,
      connection: "c1",
      ms: 0,
      kind: "event" as const,
      label,
      bytes: 0,
      problems: 0,
      failed: false,
    }));
    this.#entries = [...this.#entries, ...more].slice(-kept);
    this.#next += count;
    this.changed();
  }

  #note(name: string, input: unknown): Record<string, unknown> {
    this.asked.push({ name, input });
    if (name === "entry") throw new McpError("invalid_params", "there is no such entry", { fix: "Choose another." });
    return {};
  }
}
