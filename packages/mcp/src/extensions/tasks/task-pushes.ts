import type { ExtendedClient } from "../../client/extension.js";
import { isObject, type Params } from "../../jsonrpc/message.js";

/** How long a task is only looked at: a stream for a task that is soon over would cost more than it saves. */
const LISTEN_AFTER_MS = 3000;

/** Changes of one task that the server tells by itself. Where it does not, waits end by time alone. */
export class TaskPushes {
  readonly #client: ExtendedClient;
  readonly #id: string;
  readonly #unlisten: (() => void)[] = [];
  #since: number | undefined;
  #stream: AbortController | undefined;
  #open = false;
  #pushed = false;
  #wake: (() => void) | undefined;

  constructor(client: ExtendedClient, id: string) {
    this.#client = client;
    this.#id = id;
  }

  /** Whether the server tells changes now. */
  get open(): boolean {
    return this.#open;
  }

  /** Waits, at most until the server tells a change or the client is closed. */
  async pause(ms: number): Promise<void> {
    const { platform, closing } = this.#client;
    this.#since ??= platform.monotonic();
    if (this.#stream === undefined && platform.monotonic() - this.#since >= LISTEN_AFTER_MS) this.#listen();
    if (!this.#pushed && !closing.aborted) {
      await new Promise<void>((resolve) => {
        // The wait of the application is what keeps its process alive.
        const timer = platform.timer(ms, resolve, true);
        this.#wake = () => {
          timer.cancel();
          resolve();
        };
        closing.addEventListener("abort", this.#wake, { once: true });
      });
      if (this.#wake !== undefined) closing.removeEventListener("abort", this.#wake);
    }
    this.#wake = undefined;
    this.#pushed = false;
  }

  close(): void {
    this.#open = false;
    this.#stream?.abort();
    this.#stream = undefined;
    this.#since = undefined;
    for (const unlisten of this.#unlisten.splice(0)) unlisten();
  }

  #listen(): void {
    const stream = new AbortController();
    this.#stream = stream;
    if (!this.#client.era.has("subscriptions/listen")) return;
    this.#unlisten.push(
      this.#client.on("notifications/tasks", ({ taskId }) => {
        if (taskId !== this.#id) return;
        this.#pushed = true;
        this.#wake?.();
      }),
      this.#client.on("notifications/subscriptions/acknowledged", (params) => {
        if (acknowledges(params, this.#id)) this.#open = true;
      }),
    );
    const notifications = { taskIds: [this.#id] };
    this.#client
      .request("subscriptions/listen", { notifications }, { signal: stream.signal })
      // Whatever ended it: from now on the task is looked at.
      .catch(() => {})
      .finally(() => {
        this.#open = false;
        this.#wake?.();
      });
  }
}

function acknowledges({ notifications }: Params, id: string): boolean {
  const ids = isObject(notifications) ? notifications["taskIds"] : undefined;
  return Array.isArray(ids) && ids.includes(id);
}
