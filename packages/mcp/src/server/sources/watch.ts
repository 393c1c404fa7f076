import { guarded, isThenable } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import { callHook } from "../../platform/call-hook.js";
import type { ServerConfig } from "../call/server-config.js";
import type { PublishedChange } from "../changes/change.js";
import type { Hub, TopicWatcher } from "../changes/hub.js";
import { RESOURCE_FILTER } from "../changes/peer-subscriber.js";
import type { Watch } from "../contract/resource.js";

/** Returns the change that subscribers of a resource receive. */
export function resourceUpdated(uri: string): PublishedChange {
  return { filter: RESOURCE_FILTER, value: uri, method: "notifications/resources/updated", params: { uri } };
}

/** Finds the watch of a resource. */
interface Watchable {
  watchOf(uri: string): Watch | undefined;
}

interface ActiveWatch {
  readonly watch: Watch | undefined;
  stop(): void;
}

/** Runs the watch and calls the hooks for the first and the last subscriber of each URI. */
export class ResourceWatches implements TopicWatcher {
  readonly #config: ServerConfig;
  readonly #hub: Hub;
  readonly #resources: Watchable;
  readonly #watched = new Map<string, ActiveWatch>();

  constructor(config: ServerConfig, hub: Hub, resources: Watchable) {
    this.#config = config;
    this.#hub = hub;
    this.#resources = resources;
  }

  watched(uri: string): void {
    this.#start(uri, this.#resources.watchOf(uri));
    const { options, platform } = this.#config;
    if (options.onSubscribe !== undefined) callHook(platform, "onSubscribe", () => options.onSubscribe?.(uri));
  }

  changeOf(uri: string): PublishedChange {
    return resourceUpdated(uri);
  }

  unwatched(uri: string): void {
    const known = this.#watched.get(uri);
    this.#watched.delete(uri);
    known?.stop();
    const { options, platform } = this.#config;
    if (options.onUnsubscribe !== undefined) callHook(platform, "onUnsubscribe", () => options.onUnsubscribe?.(uri));
  }

  /** Restarts the watches of resources that were replaced while they have subscribers. */
  refresh(): void {
    for (const [uri, known] of [...this.#watched]) {
      const watch = this.#resources.watchOf(uri);
      if (watch === known.watch) continue;
      known.stop();
      this.#start(uri, watch);
    }
  }

  #start(uri: string, watch: Watch | undefined): void {
    if (watch === undefined) {
      this.#watched.set(uri, { watch, stop: () => {} });
      return;
    }
    const failed = (error: unknown) => this.#config.platform.warn(`watching ${uri} failed: ${thrownMessage(error)}`);
    let stop: ReturnType<Watch>;
    try {
      // Every process with subscribers has its own watch, so the change is only delivered in this process.
      stop = watch(uri, () => this.#hub.deliver(resourceUpdated(uri)));
    } catch (error) {
      stop = undefined;
      failed(error);
    }
    this.#watched.set(uri, {
      watch,
      stop() {
        // A failure of the watch itself has already been reported.
        Promise.resolve(stop).then(
          (settled) => guarded(() => settled?.(), failed),
          () => {},
        );
      },
    });
    if (isThenable(stop)) Promise.resolve(stop).catch(failed);
  }
}
