import { thrownMessage } from "../../encoding/thrown-message.js";
import { atMost } from "../../platform/pause.js";
import { type Storage, StorageError } from "../../storage/storage.js";
import type { Incoming } from "./server/incoming.js";
import type { ServerState } from "./server/state.js";

/** Lifetime of the key that a readiness check writes. */
const KEY_MS = 60_000;
/** Deadline for one check of the application and the storage. */
const CHECK_MS = 1000;
const HEADERS = ["content-type", "application/json", "cache-control", "no-store"];

/** Answers liveness and readiness probes of orchestrators and load balancers. */
export class Probes {
  readonly #state: ServerState;
  /**
   * The running check. Concurrent probes share it, so that a flood of unauthenticated probes does not start more
   * checks.
   */
  #checking: Promise<boolean> | undefined;
  /** True after a warning, until a check succeeds. A flood of probes must not flood the log. */
  #warned = false;

  constructor(state: ServerState) {
    this.#state = state;
  }

  /** Answers a probe. Returns false if the request is not a probe. */
  answer(incoming: Incoming): boolean {
    const { livePath = "/healthz", readyPath = "/readyz" } = this.#state.options;
    const path = incoming.path.split("?", 1)[0];
    const reply = (ready: boolean) =>
      incoming.send(ready ? 200 : 503, HEADERS, `{"status":"${ready ? "ok" : "unavailable"}"}`);
    if (path === livePath) reply(true);
    else if (path === readyPath) void this.isReady().then(reply);
    else return false;
    return true;
  }

  async isReady(): Promise<boolean> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return !this.#state.draining && (await this.#checking) && !this.#state.draining;
  }

  async #check(): Promise<boolean> {
    const { options, endpoint, platform } = this.#state;
    const { isHealthy = () => true } = options;
    let ready = false;
    let what = "`isHealthy`";
    const probe = async () => {
      if ((await isHealthy()) !== true) return;
      what = "the storage";
      if (endpoint.storage !== undefined) await checkStorage(endpoint.storage);
      ready = true;
      this.#warned = false;
    };
    await atMost(
      platform,
      CHECK_MS,
      probe().catch((error: unknown) => {
        if (!this.#warned) platform.warn(`${what} failed: ${thrownMessage(error)}`);
        this.#warned = true;
      }),
    );
    return ready;
  }
}

/**
 * Writes a key, because a read-only storage cannot serve sessions. A full storage still counts as ready: it serves the
 * sessions that it already has.
 */
async function checkStorage({ kv }: Storage): Promise<void> {
  try {
    await kv.set("http/ready", "1", { ttlMs: KEY_MS });
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}
