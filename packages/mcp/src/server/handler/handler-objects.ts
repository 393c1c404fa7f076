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
  /** What tells which methods there are: the object itself, or what all of them inherit from. */
  readonly shape: ServerHandler;
  /** True if every session has an object of its own. */
  readonly perSession: boolean;
  /** The object that serves a call. */
  of(call: ServerCall): MaybePromise<ServerHandler>;
  /** Lets the objects begin and end with the server and its sessions. Called once. */
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

  of(): ServerHandler {
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

/** How long closing waits for `terminate`. */
const TERMINATE_MS = 5000;

/** The peer of a session; a transport that stores sessions makes it after the handshake. */
interface Owned {
  peer: Peer | undefined;
}

/** An object on its way from `init` to `terminate`. */
interface Living {
  /** Rejects when `init` failed. */
  readonly ready: Promise<ServerHandler>;
  isOver: boolean;
  readonly owned: Owned | undefined;
}

/** An object for each session; for each connection, or HTTP request, where there is none. */
class SessionObjects implements HandlerObjects {
  readonly shape: ServerHandler;
  readonly perSession = true;
  readonly #class: ServerHandlerClass;
  readonly #options: unknown;
  #platform: Platform | undefined;
  /** By peer, by the session of a handshake whose peer comes later, or by call. */
  readonly #byOwner = new WeakMap<object, Living>();
  readonly #living = new Set<Living>();

  constructor(made: ServerHandlerClass, options: unknown) {
    this.#class = made;
    this.#options = options;
    const { capabilities } = made as { capabilities?: ServerHandler["capabilities"] };
    // Methods are looked up and never called on it.
    const own = capabilities === undefined ? {} : { capabilities: { value: capabilities } };
    this.shape = Object.create(made.prototype as object, own) as ServerHandler;
  }

  layer(platform: Platform): Layer {
    this.#platform = platform;
    const opening: Around = async (call, next) => {
      const result = await next(call);
      if (call.reply?.session !== undefined) await this.#opening(call, call.reply.session);
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

  of(call: ServerCall): Promise<ServerHandler> {
    const { peer } = call.exchange;
    const owner = peer ?? call.root;
    const known = this.#byOwner.get(owner);
    if (known !== undefined) return known.ready;
    const living = this.#begin(owner, peer && this.#infoOf(call, { peer }));
    if (peer === undefined) call.root.whenAnswered(() => void this.#end(living, "answered"));
    else peer.onEnded?.((reason) => this.#end(living, reason));
    return living.ready;
  }

  /** The transport has made a peer of the session that a handshake opened. */
  #opened(peer: Peer): void {
    const living = peer.session && this.#byOwner.get(peer.session);
    if (living === undefined) return;
    this.#byOwner.set(peer, living);
    if (living.owned !== undefined) living.owned.peer = peer;
  }

  /** Makes the object of a session during its handshake, so that `init` can refuse it. */
  async #opening(call: ServerCall, session: Session): Promise<void> {
    const { exchange } = call;
    if (exchange.peer !== undefined) {
      await this.of(call);
      return;
    }
    const owned: Owned = { peer: undefined };
    const living = this.#begin(session, this.#infoOf(call, owned), owned);
    call.reply = { ...call.reply, sessionEnded: (reason) => this.#end(living, reason) };
    await living.ready;
  }

  #infoOf({ exchange, reply }: ServerCall, owned: Owned): SessionInfo {
    const { peer } = owned;
    return sessionInfo({
      transport: peer === undefined ? "http" : peer.transport,
      session: reply?.session ?? peer?.session,
      principal: exchange.principal ?? peer?.principal,
      end: (reason) => owned.peer?.end?.(reason),
    });
  }

  #begin(owner: object, session: SessionInfo | undefined, owned?: Owned): Living {
    const living: Living = { ready: this.#make(session), isOver: false, owned };
    this.#byOwner.set(owner, living);
    this.#living.add(living);
    living.ready.catch(() => {
      this.#living.delete(living);
      // The next request tries again, because the cause of the failure may be temporary.
      if (this.#byOwner.get(owner) === living) this.#byOwner.delete(owner);
    });
    return living;
  }

  async #make(session: SessionInfo | undefined): Promise<ServerHandler> {
    const object = new this.#class(this.#options);
    await object.init?.(this.#options, session);
    return object;
  }

  /** Never rejects. */
  async #end(living: Living, reason: EndReason): Promise<void> {
    if (living.isOver) return;
    living.isOver = true;
    this.#living.delete(living);
    const object = await living.ready.catch(() => undefined);
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
    await Promise.all([...this.#living].map((living) => this.#end(living, "closed")));
  }
}

/** The objects of a server made from an object or a class. */
export function handlerObjects(
  handler: ServerHandler | ServerHandlerClass<never>,
  { handlerOptions, perSession }: { readonly handlerOptions?: unknown; readonly perSession?: boolean | undefined },
): HandlerObjects {
  if (typeof handler !== "function") {
    if (perSession !== true) return new SharedObject(handler, handlerOptions);
    throw new McpError("invalid_definition", "`perSession` needs a class, and this is an object", {
      fix: "Pass the class itself: `Server.from(Library, …)`.",
    });
  }
  // The signature of `Server.from` has checked that the class takes these options.
  const made = handler as ServerHandlerClass;
  if (perSession === true) return new SessionObjects(made, handlerOptions);
  return new SharedObject(new made(handlerOptions), handlerOptions);
}
