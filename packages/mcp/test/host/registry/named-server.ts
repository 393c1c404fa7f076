import { Server, type ServerOptions } from "@parley/mcp";

/** A server with one of everything, which says who it is. */
export function namedServer(name: string, options?: ServerOptions) {
  return new Server({ name, version: "1.0.0" }, options)
    .tool("who", {}, () => name)
    .tool(`only-${name}`, {}, () => name)
    .resource(`note://${name}/a`, {}, () => name)
    .prompt("greet", {}, () => `Say hello to ${name}`);
}

/** The text of a call's first content block. */
export function textOf(result: { content?: readonly { type: string; text?: string }[] }): string | undefined {
  return result.content?.[0]?.text;
}
