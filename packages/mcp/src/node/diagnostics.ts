import type { Channel } from "node:diagnostics_channel";
import { builtin } from "./builtin.js";

/** A server, as far as its calls can be observed. */
interface Observable {
  observe(observer: {
    started(call: object): void;
    ended(call: object): void;
    refused(call: object): void;
  }): () => void;
}

/**
 * Publishes what a server does on channels of `node:diagnostics_channel`: `parley:call:start`, `parley:call:end` and
 * `parley:call:refused`, each with the event that observers get. A channel without subscribers is told nothing. Returns what
 * ends it.
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
