import { thrownMessage } from "../../encoding/thrown-message.js";
import { atMost } from "../../platform/pause.js";
import { type Storage, StorageError } from "../../storage/storage.js";
import type { Incoming } from "./server/incoming.js";
import type { ServerState } from "./server/state.js";

/** How long the key that a check writes is kept. */
const KEY_MS = 60_000;
/** How long a check of the application and of the storage may take. */
const CHECK_MS = 1000;
const HEADERS = ["content-type", "application/json", "cache-control", "no-store"];

/** Answers those who ask whether the server lives, and whether it takes requests. */
export class Probes {
  readonly #state: ServerState;
  /** One check serves all who ask meanwhile, because strangers may ask. */
  #checking: Promise<boolean> | undefined;
  /** Said once until all is well again, for the same reason. */
  #warned = false;

  constructor(state: ServerState) {
    this.#state = state;
  }

  /** Whether the request was one of theirs. */
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
    const look = async () => {
      if ((await isHealthy()) !== true) return;
      what = "the storage";
      if (endpoint.storage !== undefined) await checkStorage(endpoint.storage);
      ready = true;
      this.#warned = false;
    };
    await atMost(
      platform,
      CHECK_MS,
      look().catch((error: unknown) => {
        if (!this.#warned) platform.warn(`${what} failed: ${thrownMessage(error)}`);
        this.#warned = true;
      }),
    );
    return ready;
  }
}

/** Writes, because a storage that can only be read serves no session. One that is full still serves those that it has. */
async function checkStorage({ kv }: Storage): Promise<void> {
  try {
    await kv.set("http/ready", "1", { ttlMs: KEY_MS });
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}
