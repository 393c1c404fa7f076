import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import type { ServerOptions } from "../contract/options.js";

/** States whether the server declares a capability, and why. */
export interface CapabilityReason {
  /** The path of the capability, for example `tools.listChanged`. */
  readonly capability: string;
  /** True if the server declares the capability. */
  readonly on: boolean;
  /** The reason, for people. */
  readonly why: string;
}

interface Explanation {
  readonly on: string;
  readonly off: string;
  /** The option that disables the capability. */
  readonly option?: keyof ServerOptions;
}

const changes = (list: string): Explanation => ({
  on: `the server notifies clients when the list of ${list} changes`,
  off: `the server has no ${list}, so their list cannot change`,
  option: "listChanged",
});

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  tools: { on: "tools are registered or declared", off: "no tool is registered; add one with `server.tool`" },
  "tools.listChanged": changes("tools"),
  resources: {
    on: "resources are registered or declared, or a tool stores large results for `resources/read`",
    off: "no resource is registered; add one with `server.resource` or `server.resourceTemplate`",
  },
  "resources.listChanged": changes("resources"),
  "resources.subscribe": {
    on: "clients may subscribe to resources",
    off: "the server has no resources",
    option: "subscribe",
  },
  prompts: { on: "prompts are registered or declared", off: "no prompt is registered; add one with `server.prompt`" },
  "prompts.listChanged": changes("prompts"),
  completions: {
    on: "a prompt or a template has arguments with `complete`",
    off: "no prompt and no template has arguments with `complete`",
  },
  logging: { on: "handlers may send log messages", off: "nothing sends log messages", option: "logging" },
};

/** Explains every capability. A reason that a layer gives replaces the general explanation. */
export function explainCapabilities(
  capabilities: ServerCapabilities,
  options: ServerOptions,
  reasons: Readonly<Record<string, string>>,
): CapabilityReason[] {
  const known = Object.entries(EXPLANATIONS).map(([capability, words]) => {
    const on = hasCapability(capabilities, capability);
    const turnedOff = !on && words.option !== undefined && options[words.option] === false;
    const general = on ? words.on : turnedOff ? `the option \`${words.option}\` is false` : words.off;
    return { capability, on, why: Object.hasOwn(reasons, capability) ? (reasons[capability] ?? general) : general };
  });
  const extensions = Object.keys(capabilities.extensions ?? {}).map((id) => ({
    capability: `extensions.${id}`,
    on: true,
    why: "the extension is in the option `extensions`",
  }));
  return [...known, ...extensions];
}
