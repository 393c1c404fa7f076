import { notificationText } from "../../era/notification.js";
import { taskDialect } from "../../era/select/task-dialect.js";
import { relatedTo, type TaskDialect } from "../../era/task-shape.js";
import type { Id } from "../../jsonrpc/message.js";
import type { Peer } from "../../transport/transport.js";
import type { ExtensionCall } from "../seam/extended-server.js";
import { type TaskRecord, taskOf } from "./task-record.js";

interface Listener {
  readonly peer: Peer;
  readonly dialect: TaskDialect;
  readonly progressToken: Id | undefined;
}

/** Tasks of one peer without authorization that its list shows. */
const MOST_LISTED = 1000;

/** The peers that created tasks, for what they are told of them without asking, and which tasks each of them created. */
export class TaskListeners {
  readonly #listeners = new Map<string, Listener>();
  readonly #created = new WeakMap<Peer, string[]>();

  add(id: string, { request, exchange: { peer } }: ExtensionCall): void {
    if (peer === undefined) return;
    const created = this.#created.get(peer) ?? [];
    created.push(id);
    if (created.length > MOST_LISTED) created.shift();
    this.#created.set(peer, created);
    const { revision, progressToken } = request;
    const dialect = taskDialect(revision);
    if (dialect.pushed) this.#listeners.set(id, { peer, dialect, progressToken });
  }

  /** The tasks that this peer created, oldest first. */
  created(peer: Peer | undefined): readonly string[] {
    return (peer === undefined ? undefined : this.#created.get(peer)) ?? [];
  }

  remove(id: string): void {
    this.#listeners.delete(id);
  }

  /**
   * Tells the peer the status.
   *
   * Spec: Tasks, "Task Status Notification",
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#task-status-notification
   */
  changed(record: TaskRecord): void {
    const listener = this.#listeners.get(record.id);
    if (listener === undefined) return;
    const { peer, dialect } = listener;
    peer.say(notificationText("notifications/tasks/status", dialect.shown(taskOf(record))));
  }

  /** Passes on what the handler said, with the task that it belongs to. */
  notify(id: string, method: string, params: Record<string, unknown>): void {
    const listener = this.#listeners.get(id);
    if (listener === undefined) return;
    const { peer, progressToken } = listener;
    if (method !== "notifications/progress") peer.say(notificationText(method, relatedTo(id, params)));
    else if (progressToken !== undefined) {
      peer.say(notificationText(method, relatedTo(id, { ...params, progressToken })));
    }
  }
}
