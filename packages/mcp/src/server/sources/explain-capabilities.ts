import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import type { ServerOptions } from "../contract/options.js";

/** Whether the server declares a capability, and why. */
export interface CapabilityReason {
  readonly capability: string;
  readonly on: boolean;
  readonly why: string;
}

interface Explanation {
  readonly on: string;
  readonly off: string;
  /** The option that turns the capability off. */
  readonly option?: keyof ServerOptions;
}

const changes = (list: string): Explanation => ({
  on: `the server announces changes of the list of ${list}`,
  off: `there are no ${list}, so their list cannot change`,
  option: "listChanged",
});

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  tools: { on: "tools are registered or declared", off: "no tool is registered; add one with `server.tool`" },
  "tools.listChanged": changes("tools"),
  resources: {
    on: "resources are registered or declared, or a tool keeps large results for reading",
    off: "no resource is registered; add one with `server.resource` or `server.resourceTemplate`",
  },
  "resources.listChanged": changes("resources"),
  "resources.subscribe": {
    on: "clients may subscribe to resources",
    off: "there are no resources to subscribe to",
    option: "subscribe",
  },
  prompts: { on: "prompts are registered or declared", off: "no prompt is registered; add one with `server.prompt`" },
  "prompts.listChanged": changes("prompts"),
  completions: {
    on: "a prompt or a template has arguments with `complete`",
    off: "no prompt and no template has arguments with `complete`",
  },
  logging: { on: "handlers may log", off: "there is nothing to log", option: "logging" },
};

/** Explains every capability. A reason from a feature replaces the general explanation. */
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
