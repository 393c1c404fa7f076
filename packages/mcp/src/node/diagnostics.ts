import type { Channel } from "node:diagnostics_channel";
import { builtin } from "./builtin.js";

/** The part of a server that reports its calls. */
interface Observable {
  observe(observer: {
    started(call: object): void;
    ended(call: object): void;
    refused(call: object): void;
  }): () => void;
}

/**
 * Publishes a server's calls on channels of `node:diagnostics_channel`: `parley:call:start`, `parley:call:end` and
 * `parley:call:refused`, each with the event that observers receive. A channel without subscribers costs nothing.
 * Returns a function that stops publishing.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/small-programs.md | Small programs}
 */
export function publishDiagnostics(server: Observable): () => void {
  const { channel } = builtin("node:diagnostics_channel");
  const publisher = (name: string) => {
    const target: Channel = channel(`parley:call:${name}`);
    return (event: object) => {
      if (target.hasSubscribers) target.publish(event);
    };
  };
  return server.observe({ started: publisher("start"), ended: publisher("end"), refused: publisher("refused") });
}
