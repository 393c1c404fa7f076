import { McpError } from "../../protocol/error.js";
import type { Principal } from "../../transport/transport.js";
import type { ServerFacts } from "../call/facts.js";
import type { ServerCall } from "../call/server-call.js";
import { messageOf } from "../call/thrown.js";
import { type ListShape, PagedList, pageOf } from "./pages.js";

/** Who asks. Nothing else may decide what is offered: lists vary by authorization only. */
export interface VisibilityCaller {
  readonly auth: Principal | undefined;
}

/** Whether this caller may know of an offer. To others it does not exist. */
export type VisibleTo = (caller: VisibilityCaller) => boolean;

/** An offer made ready: what lists say of it, and for whom. */
export interface Offered<W> {
  readonly key: string;
  readonly wire: W;
  readonly visibleTo: VisibleTo | undefined;
}

/** Different lists to remember at once, where offers are made to some callers only. */
const MOST_LISTS = 64;

/** The offers of one kind, in the order of their registration, which is also the order of their list. */
export class Catalogue<W, I extends Offered<W>, R extends object> {
  readonly #facts: ServerFacts;
  readonly #kind: string;
  readonly #shape: ListShape<W, R>;
  readonly #items = new Map<string, I>();
  #all: PagedList<W, R> | undefined;
  /** Lists by what they hold: callers who see the same offers share one, and its text. */
  readonly #lists = new Map<string, PagedList<W, R>>();
  #restricted = false;

  constructor(facts: ServerFacts, kind: string, shape: ListShape<W, R>) {
    this.#facts = facts;
    this.#kind = kind;
    this.#shape = shape;
  }

  /** Takes an offer in. With `replace` it takes the place of the one with its key, if there is one. */
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

  /** The offer with this key, if this caller may know of it. */
  find(key: string, call: ServerCall): I | undefined {
    const item = this.#items.get(key);
    return item === undefined || this.allows(item, call) ? item : undefined;
  }

  /** Whether this caller may know of an offer. */
  allows(item: I, call: ServerCall): boolean {
    if (item.visibleTo === undefined) return true;
    try {
      return item.visibleTo(callerOf(call)) === true;
    } catch (error) {
      this.#facts.platform.warn(
        `the ${this.#kind} "${item.key}" is hidden, because its \`visibleTo\` failed: ${messageOf(error)}`,
      );
      return false;
    }
  }

  /** All offers, also those that a caller may not know of. */
  all(): Iterable<I> {
    return this.#items.values();
  }

  /** The offers that this caller may know of. */
  visible(call: ServerCall): I[] {
    const items = [...this.#items.values()];
    return this.#restricted ? items.filter((item) => this.allows(item, call)) : items;
  }

  /** The asked page of what this caller may know of, with the hint that goes with it. */
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
    // What one caller sees must not be kept for another.
    call.cache = { ...call.cache, scope: "private" };
    return pageOf(this.#facts, list, call.request.params);
  }

  /** The asked page of a list that was made for this caller. */
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
