import type { ExtendedClient } from "../../../client/contract/extension.js";
import { isObject, type Params } from "../../../jsonrpc/message.js";
import { onAbort } from "../../../platform/on-abort.js";

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

  /** Ends the wait of now, or the next one. */
  wake(): void {
    this.#pushed = true;
    this.#wake?.();
  }

  /** Waits, at most until the server tells a change, or until the client or this is closed. */
  async pause(ms: number): Promise<void> {
    const { platform, closing } = this.#client;
    if (this.#since === undefined) this.#hear();
    this.#since ??= platform.monotonic();
    if (this.#stream === undefined && platform.monotonic() - this.#since >= LISTEN_AFTER_MS) this.#listen();
    if (!this.#pushed && !closing.aborted) {
      await new Promise<void>((resolve) => {
        const end = () => {
          timer.cancel();
          unwatch();
          resolve();
        };
        // The wait of the application is what keeps its process alive.
        const timer = platform.timer(ms, end, true);
        const unwatch = onAbort(closing, end);
        this.#wake = end;
      });
    }
    this.#wake = undefined;
    this.#pushed = false;
  }

  close(): void {
    this.#open = false;
    this.#stream?.abort();
    for (const unlisten of this.#unlisten.splice(0)) unlisten();
    this.wake();
  }

  /** In the older form the server tells the client that created the task without being asked; in the other it is asked. */
  #hear(): void {
    for (const method of ["notifications/tasks", "notifications/tasks/status"]) {
      const unlisten = this.#client.on(method, ({ taskId }) => {
        if (taskId === this.#id) this.wake();
      });
      this.#unlisten.push(unlisten);
    }
  }

  #listen(): void {
    const stream = new AbortController();
    this.#stream = stream;
    if (!this.#client.era.has("subscriptions/listen")) return;
    this.#unlisten.push(
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
