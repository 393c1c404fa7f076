import { callHook } from "../platform/call-hook.js";
import type { Platform } from "../platform/platform.js";
import type { ServerStatus } from "./server-status.js";
import type { SupervisionEvent } from "./supervision/supervision-event.js";

/** A server of the host is in another state. */
export interface StatusChanged {
  readonly type: "status";
  readonly server: string;
  readonly status: ServerStatus;
}

/** The catalogue has changed; several changes of one turn of the event loop are told together. */
export interface CatalogueChanged {
  readonly type: "catalogue";
  readonly lists: readonly ("tools" | "prompts" | "resources")[];
}

/** A step of the supervision of the host's servers. */
export interface SupervisionStep {
  readonly type: "supervision";
  readonly step: SupervisionEvent;
}

/** The events of a host by name; `any` is all of them. */
export interface HostEvents {
  status: StatusChanged;
  catalogue: CatalogueChanged;
  supervision: SupervisionStep;
  any: StatusChanged | CatalogueChanged | SupervisionStep;
}

type Listener = (event: never) => void;

/** Those who listen to a host. What a listener throws is reported and harms nobody. */
export class HostListeners {
  readonly #platform: Pick<Platform, "warn">;
  readonly #listeners = new Map<keyof HostEvents, Set<Listener>>();

  constructor(platform: Pick<Platform, "warn">) {
    this.#platform = platform;
  }

  add<E extends keyof HostEvents>(event: E, listener: (event: HostEvents[E]) => void): () => void {
    const known = this.#listeners.get(event) ?? new Set();
    known.add(listener);
    this.#listeners.set(event, known);
    return () => void known.delete(listener);
  }

  tell(event: HostEvents["any"]): void {
    for (const name of [event.type, "any"] as const) {
      for (const listener of [...(this.#listeners.get(name) ?? [])]) {
        // Each set holds listeners of its own event.
        callHook(this.#platform, `a listener to "${name}" of the host`, () => listener(event as never));
      }
    }
  }
}
