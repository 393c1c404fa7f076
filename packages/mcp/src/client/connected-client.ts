import { type Prior, priorOf } from "../era/negotiate/negotiation.js";
import { checkedNotificationMiddleware, type NotificationMiddleware } from "../era/notification-middleware.js";
import type { Params } from "../jsonrpc/message.js";
import type { ServerCapabilities } from "../protocol/capabilities.js";
import type { Implementation } from "../protocol/implementation.js";
import type { Revision } from "../protocol/revisions.js";
import { type ClientParts, type CloseOptions, closeClient } from "./assemble.js";
import { type ReceivedNotification, streamNotifications } from "./changes/notification-stream.js";
import type { ClientEvents, ConnectionState, SessionMode, Unlisten } from "./contract/events.js";
import { extensionFeature } from "./contract/extension.js";
import { type ClientMiddleware, tapNotices } from "./contract/middleware.js";

/** What a client knows of its connection and its server, whatever the server offers. */
export class ConnectedClient {
  readonly #parts: ClientParts;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** Where the connection stands; `on("state", …)` tells of changes. */
  get state(): ConnectionState {
    return this.#parts.connection.state;
  }

  /** Who the server says it is; unverified. */
  get serverInfo(): Implementation | undefined {
    return this.#parts.connection.established.serverInfo;
  }

  /** What the server says it offers. */
  get serverCapabilities(): ServerCapabilities {
    return this.#parts.connection.established.capabilities;
  }

  /** What the server says about its use, for the model. */
  get instructions(): string | undefined {
    return this.#parts.connection.established.instructions;
  }

  /** The revision that both sides speak. */
  get protocolVersion(): Revision {
    return this.#parts.connection.established.era.revision;
  }

  /** Whether the tools that were listed last need a session; `on("session.mode", …)` tells of changes. Undefined before a list. */
  get sessionMode(): SessionMode | undefined {
    return this.#parts.tools.sessionMode;
  }

  /** What was learnt of the server, as JSON: given to a later `connect` as `prior` it saves asking again. */
  get prior(): Prior {
    return priorOf(this.#parts.connection.established);
  }

  /** Listens to notifications by method, to all by `notification`, to unknown ones by `unknown`, and to the connection itself. */
  on<E extends keyof ClientEvents>(event: E, listener: (value: ClientEvents[E]) => void): Unlisten;
  /** Listens to notifications of any other method: those of extensions, and a server's own. */
  on(event: `notifications/${string}`, listener: (params: Params) => void): Unlisten;
  on(event: string, listener: (value: never) => void): Unlisten {
    return this.#parts.router.on(event, listener);
  }

  /** All notifications from now on, in order, for `for await`. Ends with the connection, or when the loop is left. */
  notifications(): AsyncIterableIterator<ReceivedNotification, undefined> {
    return streamNotifications(this.#parts.router, this.#parts.connection);
  }

  /** Adds middleware around every later call; the first one added is the outermost. */
  use(...middleware: ClientMiddleware[]): this {
    this.#parts.caller.middleware.push(...middleware);
    return this;
  }

  /**
   * Adds middleware around every later notification, in both directions; the first one added is the outermost. It sees notifications
   * of the server before listeners, subscriptions and the cache do.
   */
  useNotifications(...middleware: NotificationMiddleware[]): this {
    const { notifications, connection, caller } = this.#parts;
    notifications.push(...checkedNotificationMiddleware(middleware));
    tapNotices(connection.current?.transport, notifications, (message) => caller.warn(message));
    return this;
  }

  /** What an extension that was given to `connect` adds to this client. Throws `misuse` if it was not given. */
  extension<F>(extension: { readonly id: string; readonly feature?: F }): F {
    return extensionFeature(this.#parts.extensions, extension.id) as F;
  }

  /** Sends any notification. */
  notify(method: string, params?: object): Promise<void> {
    // As for `request`.
    return this.#parts.caller.notify(method, params as Params | undefined);
  }

  /** Ends the connection. Calls in flight may end within `drainMs`, default 0; what is still pending then rejects. */
  close(options?: CloseOptions): Promise<void> {
    return closeClient(this.#parts, options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
