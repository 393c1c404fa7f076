import { Server } from "@parley/mcp";

/** A server that says who it is, and one with more where a test needs it. */
export function namedServer(name: string) {
  return new Server({ name, version: "1.0.0" })
    .tool("who", {}, () => name)
    .tool(`only-${name}`, {}, () => name)
    .resource(`note://${name}/a`, {}, () => name)
    .prompt("greet", {}, () => `Say hello to ${name}`);
}

/** The text of a call's first content block. */
export function textOf(result: { content?: readonly { type: string; text?: string }[] }): string | undefined {
  return result.content?.[0]?.text;
}
