import { isThenable, neverUnhandled } from "../../encoding/maybe-promise.js";
import { nearestName } from "../../encoding/nearest-name.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import type { Principal } from "../../http/authentication.js";
import { McpError } from "../../protocol/error.js";
import type { ServerFacts } from "../call/facts.js";
import type { ServerCall } from "../call/server-call.js";
import { type ListShape, PagedList, pageOf } from "./pages.js";

/**
 * Who asks. It holds the authorization alone, because lists must not vary by anything else.
 *
 * Spec: Tools, "Capabilities", https://modelcontextprotocol.io/specification/2026-07-28/server/tools#capabilities
 */
export interface VisibilityCaller {
  readonly auth: Principal | undefined;
}

/** Decides whether a caller sees an offer. For other callers it does not exist. */
export type VisibleTo = (caller: VisibilityCaller) => boolean;

/** A registered offer: its key, its entry in lists, and who sees it. */
export interface Offered<W> {
  readonly key: string;
  readonly wire: W;
  readonly visibleTo: VisibleTo | undefined;
}

/** Lists to cache where callers see different offers; 64 covers the usual number of roles, and bounds memory. */
const MOST_LISTS = 64;

/** The offers of one kind. Lists have them in the order of registration, so that the order is deterministic. */
export class Catalogue<W, I extends Offered<W>, R extends object> {
  readonly #facts: ServerFacts;
  readonly #kind: string;
  readonly #shape: ListShape<W, R>;
  readonly #items = new Map<string, I>();
  #all: PagedList<W, R> | undefined;
  /** Lists by the keys in them: callers who see the same offers share a list and its text. */
  readonly #lists = new Map<string, PagedList<W, R>>();
  #restricted = false;

  constructor(facts: ServerFacts, kind: string, shape: ListShape<W, R>) {
    this.#facts = facts;
    this.#kind = kind;
    this.#shape = shape;
  }

  /** Adds an offer. With `replace` it replaces the one with the same key, if there is one. */
  add(item: I, replace: boolean): void {
    if (!replace && this.#items.has(item.key)) {
      throw new McpError("invalid_definition", `the ${this.#kind} "${item.key}" exists already`, {
        fix: "Remove it first, use `replace`, or choose another name.",
      });
    }
    this.#items.set(item.key, item);
    this.#changed();
  }

  remove(key: string): boolean {
    const removed = this.#items.delete(key);
    if (removed) this.#changed();
    return removed;
  }

  /** The offer with this key, if this caller sees it. */
  find(key: string, call: ServerCall): I | undefined {
    const item = this.#items.get(key);
    return item === undefined || this.allows(item, call) ? item : undefined;
  }

  /**
   * The error for a key that this caller sees nothing under, with the nearest one that it does see. Behind a mount the names
   * are others than here, so none is suggested.
   */
  unknown(key: string, call: ServerCall): McpError {
    const visible = call.outer === undefined ? this.visible(call) : [];
    const nearest = nearestName(
      key,
      visible.map((item) => item.key),
    );
    const meant = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
    return new McpError("invalid_params", `unknown ${this.#kind}: ${key}${meant}`, {
      data: { reason: `unknown_${this.#kind}`, name: key, ...(nearest === undefined ? {} : { nearest }) },
    });
  }

  /** Whether this caller sees an offer. A `visibleTo` that throws hides it. */
  allows(item: I, call: ServerCall): boolean {
    if (item.visibleTo === undefined) return true;
    try {
      const visible: unknown = item.visibleTo(callerOf(call));
      if (!isThenable(visible)) return visible === true;
      neverUnhandled(Promise.resolve(visible));
      throw new TypeError("it returned a promise");
    } catch (error) {
      this.#facts.platform.warn(
        `the ${this.#kind} "${item.key}" is hidden, because its \`visibleTo\` failed: ${thrownMessage(error)}`,
      );
      return false;
    }
  }

  /** All offers, including those that some callers do not see. */
  all(): Iterable<I> {
    return this.#items.values();
  }

  /** The offers that this caller sees. */
  visible(call: ServerCall): I[] {
    const items = [...this.#items.values()];
    return this.#restricted ? items.filter((item) => this.allows(item, call)) : items;
  }

  /** The requested page of the offers that this caller sees; sets the cache hint where callers see different ones. */
  list(call: ServerCall): R {
    if (this.#restricted) return this.#listFor(call);
    this.#all ??= new PagedList(this.#shape, [...this.#items.values()].map(wireOf));
    return pageOf(this.#facts, this.#all, call.request.params);
  }

  #listFor(call: ServerCall): R {
    const visible = this.visible(call);
    const key = JSON.stringify(visible.map((item) => item.key));
    let list = this.#lists.get(key);
    if (list === undefined) {
      list = new PagedList(this.#shape, visible.map(wireOf));
      if (this.#lists.size >= MOST_LISTS) this.#lists.clear();
      this.#lists.set(key, list);
    }
    // Spec: Caching, "Choosing a Cache Scope": a result that depends on the caller is private.
    // https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#choosing-a-cache-scope
    call.cache = { ...call.cache, scope: "private" };
    return pageOf(this.#facts, list, call.request.params);
  }

  /** The requested page of a list that was computed for this caller. */
  page(call: ServerCall, items: readonly W[]): R {
    call.cache = { ...call.cache, scope: "private" };
    return pageOf(this.#facts, new PagedList(this.#shape, items), call.request.params);
  }

  #changed(): void {
    this.#all = undefined;
    this.#lists.clear();
    this.#restricted = [...this.#items.values()].some(({ visibleTo }) => visibleTo !== undefined);
  }
}

function wireOf<W>({ wire }: { readonly wire: W }): W {
  return wire;
}

function callerOf({ exchange }: ServerCall): VisibilityCaller {
  return { auth: exchange.principal ?? exchange.peer?.principal };
}
