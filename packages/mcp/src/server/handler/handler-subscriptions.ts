import type { MaybePromise } from "../../encoding/maybe-promise.js";
import { isObject } from "../../jsonrpc/message.js";
import type { Around } from "../call/layers.js";
import type { ServerCall } from "../call/server-call.js";
import { RESOURCE_FILTER } from "../changes/peer-subscriber.js";
import type { HandlerObjects } from "./handler-objects.js";

type Next = () => MaybePromise<object>;

/** Asks a handler object for its consent before the server confirms a subscription. */
export class HandlerSubscriptions {
  /**
   * The outcomes of `subscribe` of the shared object, by URI. Each is stored until the URI has lost its last
   * subscriber.
   */
  readonly #subscribed = new Map<string, Promise<void>>();
  /** Running calls of `unsubscribe`, by URI. */
  readonly #unsubscribing = new Map<string, Promise<void>>();
  /** URIs with subscribers. */
  readonly #active = new Set<string>();
  readonly #objects: HandlerObjects;

  constructor(objects: HandlerObjects) {
    this.#objects = objects;
  }

  /**
   * The layers around the subscription methods. They ask the object before the server stores a subscription, and notify
   * the object after the server has removed one.
   */
  get arounds(): Readonly<Record<string, Around>> {
    return {
      "resources/subscribe": (call, next) => this.#subscribe(call, () => next(call)),
      "resources/unsubscribe": (call, next) => this.#unsubscribe(call, () => next(call)),
      "subscriptions/listen": (call, next) => this.#listen(call, () => next(call)),
    };
  }

  /** Called when a URI gets its first subscriber in this process. */
  async subscribed(uri: string): Promise<void> {
    this.#active.add(uri);
    if (!this.#objects.perSession) await this.#admit(uri);
  }

  /** Called when a URI has lost its last subscriber in this process. */
  async unsubscribed(uri: string): Promise<void> {
    this.#active.delete(uri);
    if (this.#objects.perSession) return;
    const admitted = this.#subscribed.get(uri);
    this.#subscribed.delete(uri);
    if (admitted === undefined) return;
    const leaving = admitted.then(
      () => this.#objects.shape.unsubscribe?.(uri),
      () => undefined,
    );
    this.#unsubscribing.set(uri, leaving);
    await leaving.finally(() => this.#unsubscribing.get(uri) === leaving && this.#unsubscribing.delete(uri));
  }

  async #subscribe(call: ServerCall, next: Next): Promise<object> {
    const uri = call.stringParam("uri");
    const undo = await this.#begin(uri, call, call.exchange.peer?.session?.subscriptions.includes(uri) === true);
    try {
      return await next();
    } catch (error) {
      await undo().catch(() => undefined);
      throw error;
    }
  }

  async #unsubscribe(call: ServerCall, next: Next): Promise<object> {
    const uri = call.stringParam("uri");
    const had = call.exchange.peer?.session?.subscriptions.includes(uri) === true;
    const result = await next();
    if (!this.#objects.perSession) await this.#unsubscribing.get(uri);
    else if (had) await (await this.#objects.objectFor(call)).unsubscribe?.(uri);
    return result;
  }

  /** Removes from the filter the URIs that the object refuses, as if they did not exist. */
  async #listen(call: ServerCall, next: Next): Promise<object> {
    const { notifications } = call.request.params;
    const asked = isObject(notifications) ? notifications[RESOURCE_FILTER] : undefined;
    if (!isObject(notifications) || !Array.isArray(asked)) return next();
    const taken: string[] = [];
    const undo: (() => Promise<void>)[] = [];
    for (const uri of new Set(asked.filter((each): each is string => typeof each === "string"))) {
      await this.#begin(uri, call, false).then(
        (each) => {
          taken.push(uri);
          undo.push(each);
        },
        () => undefined,
      );
    }
    const filter = { ...notifications, [RESOURCE_FILTER]: taken };
    const { params } = call.request;
    // Safe to replace, because the params belong to this call alone.
    Object.assign(call.request, { params: { ...params, notifications: filter } });
    try {
      return await next();
    } finally {
      for (const each of undo) await each().catch(() => undefined);
    }
  }

  /**
   * Asks the object for its consent. Returns a function that unsubscribes the object again if nothing else needs the
   * URI.
   */
  async #begin(uri: string, call: ServerCall, isKnown: boolean): Promise<() => Promise<void>> {
    if (!this.#objects.perSession) {
      await this.#admit(uri);
      return async () => {
        if (!this.#active.has(uri)) await this.unsubscribed(uri);
      };
    }
    const object = await this.#objects.objectFor(call);
    if (!isKnown) await object.subscribe?.(uri);
    return async () => {
      if (!isKnown) await object.unsubscribe?.(uri);
    };
  }

  #admit(uri: string): Promise<void> {
    const known = this.#subscribed.get(uri);
    if (known !== undefined) return known;
    const asked = (async () => this.#objects.shape.subscribe?.(uri))();
    this.#subscribed.set(uri, asked);
    asked.catch(() => {
      // The next subscriber asks again, because the cause of the failure may be temporary.
      if (this.#subscribed.get(uri) === asked) this.#subscribed.delete(uri);
    });
    return asked;
  }
}
