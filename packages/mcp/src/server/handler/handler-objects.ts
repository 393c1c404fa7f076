import type { MaybePromise } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Session } from "../../era/session.js";
import { atMost } from "../../platform/pause.js";
import type { Platform } from "../../platform/platform.js";
import { McpError } from "../../protocol/error.js";
import type { EndReason, Peer } from "../../transport/transport.js";
import { inLayer } from "../call/in-layer.js";
import type { Around, Layer } from "../call/layers.js";
import type { ServerCall } from "../call/server-call.js";
import { type SessionInfo, sessionInfo } from "../contract/session-info.js";
import { has, type ServerHandler, type ServerHandlerClass } from "./server-handler.js";

/** The handler objects of one server: one for all calls, or one for each session. */
export interface HandlerObjects {
  /**
   * The object whose methods determine the capabilities: the shared object, or an object with the prototype of the
   * class.
   */
  readonly shape: ServerHandler;
  /** True if every session has its own object. */
  readonly perSession: boolean;
  /** Returns the object that serves a call. */
  objectFor(call: ServerCall): MaybePromise<ServerHandler>;
  /** Returns the layer that creates and ends the objects together with the server and its sessions. Called once. */
  layer(platform: Platform): Layer;
}

/** One object for all calls. Requests wait for `init`, and `close` calls `terminate`. */
class SharedObject implements HandlerObjects {
  readonly shape: ServerHandler;
  readonly perSession = false;
  readonly #options: unknown;

  constructor(handler: ServerHandler, options: unknown) {
    this.shape = handler;
    this.#options = options;
  }

  objectFor(): ServerHandler {
    return this.shape;
  }

  layer(): Layer {
    const { shape } = this;
    let opening: Promise<void> | undefined;
    let isOpen = !has(shape, "init");
    const open = () => {
      if (opening !== undefined) return opening;
      opening = (async () => {
        await shape.init?.(this.#options);
        isOpen = true;
      })();
      // The next request tries again, because the cause of the failure may be temporary.
      opening.catch(() => {
        opening = undefined;
      });
      return opening;
    };
    return {
      name: "handler object",
      stage: "prepared",
      around: (call, next) => (isOpen ? next(call) : inLayer(call, "preparation", open).then(() => next(call))),
      endsObjects: has(shape, "terminate"),
      async close() {
        const ran = opening === undefined ? !has(shape, "init") : await opening.then(yes, no);
        if (ran) await shape.terminate?.("closed");
      },
    };
  }
}

const yes = () => true;
const no = () => false;

/** Time limit of `terminate`. Without a limit, a stuck handler would block closing. */
const TERMINATE_MS = 5000;

/** The peer of a session. Transports that store sessions create the peer after the handshake. */
interface SessionPeer {
  peer: Peer | undefined;
}

/** The lifetime of a handler object, from `init` to `terminate`. */
interface ObjectLifetime {
  /** Rejects if `init` failed. */
  readonly ready: Promise<ServerHandler>;
  isEnded: boolean;
  /** Set if the peer is created after the handshake. */
  readonly sessionPeer: SessionPeer | undefined;
}

/** One object for each session. Without sessions, one for each connection, or for each HTTP request. */
class SessionObjects implements HandlerObjects {
  readonly shape: ServerHandler;
  readonly perSession = true;
  readonly #class: ServerHandlerClass;
  readonly #options: unknown;
  #platform: Platform | undefined;
  /** Lifetimes by peer, by the session of a handshake whose peer does not exist yet, or by call. */
  readonly #byOwner = new WeakMap<object, ObjectLifetime>();
  readonly #lifetimes = new Set<ObjectLifetime>();

  constructor(handlerClass: ServerHandlerClass, options: unknown) {
    this.#class = handlerClass;
    this.#options = options;
    const { capabilities } = handlerClass as { capabilities?: ServerHandler["capabilities"] };
    // This object is only inspected for its methods. None of them is called on it.
    const own = capabilities === undefined ? {} : { capabilities: { value: capabilities } };
    this.shape = Object.create(handlerClass.prototype as object, own) as ServerHandler;
  }

  layer(platform: Platform): Layer {
    this.#platform = platform;
    const opening: Around = async (call, next) => {
      const result = await next(call);
      if (call.reply?.session !== undefined) await this.#openSession(call, call.reply.session);
      return result;
    };
    return {
      name: "handler objects",
      stage: "handler object",
      around: { initialize: opening },
      endsObjects: true,
      opened: (peer) => this.#opened(peer),
      close: () => this.#close(),
    };
  }

  objectFor(call: ServerCall): Promise<ServerHandler> {
    const { peer } = call.exchange;
    const owner = peer ?? call.root;
    const known = this.#byOwner.get(owner);
    if (known !== undefined) return known.ready;
    const lifetime = this.#begin(owner, peer && this.#infoOf(call, { peer }));
    if (peer === undefined) call.root.whenAnswered(() => void this.#end(lifetime, "answered"));
    else peer.onEnded?.((reason) => this.#end(lifetime, reason));
    return lifetime.ready;
  }

  /** Assigns the object of a handshake's session to the peer that the transport has created for it. */
  #opened(peer: Peer): void {
    const lifetime = peer.session && this.#byOwner.get(peer.session);
    if (lifetime === undefined) return;
    this.#byOwner.set(peer, lifetime);
    if (lifetime.sessionPeer !== undefined) lifetime.sessionPeer.peer = peer;
  }

  /** Creates the object of a session during its handshake, so that `init` can refuse the session. */
  async #openSession(call: ServerCall, session: Session): Promise<void> {
    const { exchange } = call;
    if (exchange.peer !== undefined) {
      await this.objectFor(call);
      return;
    }
    const sessionPeer: SessionPeer = { peer: undefined };
    const lifetime = this.#begin(session, this.#infoOf(call, sessionPeer), sessionPeer);
    call.reply = { ...call.reply, sessionEnded: (reason) => this.#end(lifetime, reason) };
    await lifetime.ready;
  }

  #infoOf({ exchange, reply }: ServerCall, sessionPeer: SessionPeer): SessionInfo {
    const { peer } = sessionPeer;
    return sessionInfo({
      transport: peer === undefined ? "http" : peer.transport,
      session: reply?.session ?? peer?.session,
      principal: exchange.principal ?? peer?.principal,
      end: (reason) => sessionPeer.peer?.end?.(reason),
    });
  }

  #begin(owner: object, session: SessionInfo | undefined, sessionPeer?: SessionPeer): ObjectLifetime {
    const lifetime: ObjectLifetime = { ready: this.#make(session), isEnded: false, sessionPeer };
    this.#byOwner.set(owner, lifetime);
    this.#lifetimes.add(lifetime);
    lifetime.ready.catch(() => {
      this.#lifetimes.delete(lifetime);
      // The next request tries again, because the cause of the failure may be temporary.
      if (this.#byOwner.get(owner) === lifetime) this.#byOwner.delete(owner);
    });
    return lifetime;
  }

  async #make(session: SessionInfo | undefined): Promise<ServerHandler> {
    const object = new this.#class(this.#options);
    await object.init?.(this.#options, session);
    return object;
  }

  /** Calls `terminate` once. Never rejects. */
  async #end(lifetime: ObjectLifetime, reason: EndReason): Promise<void> {
    if (lifetime.isEnded) return;
    lifetime.isEnded = true;
    this.#lifetimes.delete(lifetime);
    const object = await lifetime.ready.catch(() => undefined);
    const ending = this.#terminate(object, reason);
    if (this.#platform !== undefined) await atMost(this.#platform, TERMINATE_MS, ending, true);
  }

  async #terminate(object: ServerHandler | undefined, reason: EndReason): Promise<void> {
    try {
      await object?.terminate?.(reason);
    } catch (error) {
      this.#platform?.warn(`\`terminate\` failed: ${thrownMessage(error)}`);
    }
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#lifetimes].map((each) => this.#end(each, "closed")));
  }
}

/** Creates the handler objects for an object or a class. */
export function handlerObjects(
  handler: ServerHandler | ServerHandlerClass<never>,
  { handlerOptions, perSession }: { readonly handlerOptions?: unknown; readonly perSession?: boolean | undefined },
): HandlerObjects {
  if (typeof handler !== "function") {
    if (perSession !== true) return new SharedObject(handler, handlerOptions);
    throw new McpError("invalid_definition", "`perSession` needs a class, but the handler is an object", {
      fix: "Pass the class itself: `Server.from(Library, …)`.",
    });
  }
  // The signature of `Server.from` has checked that the class accepts these options.
  const handlerClass = handler as ServerHandlerClass;
  if (perSession === true) return new SessionObjects(handlerClass, handlerOptions);
  return new SharedObject(new handlerClass(handlerOptions), handlerOptions);
}
