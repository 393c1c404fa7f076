import type { NotificationMessage } from "../../jsonrpc/message.js";
import type { ClientConnection } from "../connection/connection.js";
import { BoundedQueue } from "./bounded-queue.js";
import type { NotificationRouter } from "./notifications.js";

/** Notifications that wait for their reader; beyond it the oldest are given up. */
const MAX_WAITING = 1000;

/** A notification as a reader of all of them gets it. */
export interface ReceivedNotification extends Pick<NotificationMessage, "method" | "params"> {
  /** How many before this one were given up because more than 1,000 waited. */
  missed: number;
}

/** All notifications from now on, in the order of their arrival, until the reader leaves or the connection is over. */
export function streamNotifications(
  router: NotificationRouter,
  connection: ClientConnection,
): AsyncIterableIterator<ReceivedNotification, undefined> {
  const queue = new BoundedQueue<NotificationMessage>(MAX_WAITING);
  const isOver = () => connection.state === "closed" || (connection.state === "disconnected" && !connection.mayReturn);
  const off = [
    router.on("notification", (message: NotificationMessage) => queue.push(message)),
    router.on("state", () => isOver() && leave()),
  ];
  const leave = () => {
    for (const unlisten of off) unlisten();
    queue.end();
  };
  if (isOver()) leave();
  return {
    async next() {
      const queued = await queue.next();
      if (queued === undefined) return { value: undefined, done: true };
      const { method, params } = queued.value;
      return { value: { method, ...(params === undefined ? {} : { params }), missed: queued.missed }, done: false };
    },
    async return() {
      leave();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
