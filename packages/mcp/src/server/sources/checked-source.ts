import { isThenable, type MaybePromise, neverUnhandled, whenReady } from "../../encoding/maybe-promise.js";
import { readable, thrownMessage, traceOf } from "../../encoding/thrown-message.js";
import { isObject } from "../../jsonrpc/message.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { ALL_OFFER_KINDS, OFFER_KINDS, type OfferKind } from "../../protocol/features/offer-kinds.js";
import type { Revision } from "../../protocol/revisions.js";
import { InputOutcome } from "../call/asker.js";
import { isInputRequired } from "../call/input-required.js";
import type { ServerConfig } from "../call/server-config.js";
import { cacheHint } from "../contract/cache-hints.js";
import type { Watch } from "../contract/resource.js";
import type { FoundOffer, Offer, OfferItems, OfferList, OfferPage, Source, SourceCall } from "../contract/source.js";
import { KIND_OF_VALUE, type LocalSource, type ServedOffer } from "./local-source.js";

/** A source whose lists and offers have a single form. */
export interface PlainSource extends Omit<Source, "list" | "find"> {
  list(kind: OfferKind, call: SourceCall): MaybePromise<OfferList>;
  find(kind: OfferKind, name: string, call: SourceCall): MaybePromise<FoundOffer | undefined>;
  /** True while `find` may open connections. The server then calls `find` only after it has admitted the call. */
  readonly connects?: boolean | undefined;
}

type Item = OfferItems[OfferKind];

/** The member that the result for an offer must have, by kind of offer. */
const RESULTS: Readonly<Record<OfferKind, string>> = {
  tools: "content",
  prompts: "messages",
  resources: "contents",
  resourceTemplates: "contents",
};

/** A checked list of a source: its entries, and the compiled offer of each value among them. */
interface ReadList {
  readonly list: OfferList;
  readonly values: ReadonlyMap<string, ServedOffer>;
  /** True if some callers do not see the whole list. */
  readonly restricted: boolean;
}

/**
 * Wraps a source of the application. Checks its return values, compiles the values that it lists and finds, and throws
 * errors that name the source and its method. Throws `invalid_definition` for an object that is not a source.
 */
export function checkedSource(source: Source, name: string, local: LocalSource, config: ServerConfig): PlainSource {
  checkMembers(source, name);
  const checked = new CheckedSource(source, name, local, config);
  const { page, watchOf, instructions, close, onChange } = source;
  // Optional members stay absent, because their presence determines the capabilities.
  return {
    capabilities: (revision) => checked.capabilities(revision),
    list: (kind, call) => checked.list(kind, call),
    find: (kind, key, call) => checked.find(kind, key, call),
    ...(page && { page: (kind, cursor, call) => checked.page(kind, cursor, call) }),
    ...(watchOf && { watchOf: (uri) => checked.watchOf(uri) }),
    ...(instructions && { instructions: () => checked.instructions() }),
    ...(close && { close: () => source.close?.() }),
    ...(onChange && { onChange: (listener) => checked.onChange(listener) }),
    get sessionless() {
      return source.sessionless;
    },
  };
}

class CheckedSource {
  readonly #source: Source;
  readonly #name: string;
  readonly #local: LocalSource;
  readonly #config: ServerConfig;
  /**
   * Checked lists, by the return value of `list`. Cleared after each change, because a program may have changed the
   * value in place.
   */
  #lists = new WeakMap<object, ReadList>();

  constructor(source: Source, name: string, local: LocalSource, config: ServerConfig) {
    this.#source = source;
    this.#name = name;
    this.#local = local;
    this.#config = config;
    // Throws while the server is created, so that the author of the source sees the error.
    const revision = config.revisions.at(-1);
    if (revision !== undefined) this.capabilities(revision);
  }

  capabilities(revision: Revision): ServerCapabilities {
    let declared: unknown;
    try {
      declared = this.#source.capabilities(revision);
    } catch (error) {
      throw this.#definition("capabilities", `failed: ${thrownMessage(error)}`, CAPABILITIES_FIX);
    }
    if (isObject(declared) && !isThenable(declared)) return declared;
    if (isThenable(declared)) neverUnhandled(Promise.resolve(declared));
    throw this.#definition("capabilities", `returned ${describeValue(declared)}`, CAPABILITIES_FIX);
  }

  list(kind: OfferKind, call: SourceCall): MaybePromise<OfferList> {
    return whenReady(this.#read(kind, call), (read) => this.#visible(kind, read, call));
  }

  page(kind: OfferKind, cursor: string | undefined, call: SourceCall): MaybePromise<OfferPage> {
    return whenReady(
      this.#callSource("page", () => this.#source.page?.(kind, cursor, call)),
      (page: unknown) => {
        if (!isObject(page) || !Array.isArray(page["items"])) {
          throw this.#misuse("page", `returned ${describeValue(page)} for ${kind}`, "Return an object with `items`.");
        }
        const { next } = page;
        if (next !== undefined && next !== null && typeof next !== "string") {
          throw this.#misuse("page", `returned a \`next\` for ${kind} that is ${describeValue(next)}`, CURSOR_FIX);
        }
        const read = this.#readList("page", kind, page);
        return { ...page, ...this.#visible(kind, read, call), next: next ?? undefined };
      },
    );
  }

  find(kind: OfferKind, name: string, call: SourceCall): MaybePromise<FoundOffer | undefined> {
    const { find } = this.#source;
    if (find === undefined) return this.#findListed(kind, name, call);
    return whenReady(
      this.#callSource("find", () => this.#source.find?.(kind, name, call)),
      (found: unknown) => {
        // Databases return null for a missing row.
        if (found === undefined || found === null) return undefined;
        if (!isObject(found)) {
          throw this.#misuse("find", `returned ${describeValue(found)} for ${kind} "${name}"`, FIND_FIX);
        }
        return isOffer(found) ? this.#foundValue(kind, name, found, call) : this.#checkedOffer(kind, name, found, call);
      },
    );
  }

  watchOf(uri: string): Watch | undefined {
    let watch: unknown;
    try {
      watch = this.#source.watchOf?.(uri);
    } catch (error) {
      this.#warn("watchOf", `failed: ${thrownMessage(error)}`);
      return undefined;
    }
    // The cast is safe: any function accepts a URI and a function.
    if (watch === undefined || typeof watch === "function") return watch as Watch | undefined;
    this.#warnUnusable("watchOf", watch);
    return undefined;
  }

  instructions(): string | undefined {
    let text: unknown;
    try {
      text = this.#source.instructions?.();
    } catch (error) {
      this.#warn("instructions", `failed: ${thrownMessage(error)}`);
      return undefined;
    }
    if (text === undefined || typeof text === "string") return text;
    this.#warnUnusable("instructions", text);
    return undefined;
  }

  onChange(listener: (kinds: readonly OfferKind[]) => void): () => void {
    let ended = false;
    let end: unknown;
    try {
      end = this.#source.onChange?.((kinds: unknown) => {
        const known: readonly unknown[] = ALL_OFFER_KINDS;
        if (!Array.isArray(kinds) || !kinds.every((kind) => known.includes(kind))) {
          throw this.#misuse("onChange", `called its listener with ${describeValue(kinds)}`, KINDS_FIX);
        }
        this.#lists = new WeakMap();
        if (!ended) listener(kinds as OfferKind[]);
      });
    } catch (error) {
      throw this.#definition("onChange", `failed: ${thrownMessage(error)}`, END_FIX);
    }
    if (isThenable(end)) neverUnhandled(Promise.resolve(end));
    if (typeof end !== "function") throw this.#definition("onChange", `returned ${describeValue(end)}`, END_FIX);
    return () => {
      ended = true;
      // Returned, so that a rejection is reported.
      return (end as () => void)();
    };
  }

  #read(kind: OfferKind, call: SourceCall): MaybePromise<ReadList> {
    return whenReady(
      this.#callSource("list", () => this.#source.list(kind, call)),
      (listed: unknown) => {
        if (!isObject(listed) && !Array.isArray(listed)) {
          throw this.#misuse("list", `returned ${describeValue(listed)} for ${kind}`, LIST_FIX);
        }
        let read = this.#lists.get(listed);
        if (read === undefined) {
          read = this.#readList("list", kind, listed);
          this.#lists.set(listed, read);
        }
        return read;
      },
    );
  }

  #readList(method: string, kind: OfferKind, listed: object): ReadList {
    const { items, cache }: { items?: unknown; cache?: unknown } = Array.isArray(listed) ? { items: listed } : listed;
    if (!Array.isArray(items)) throw this.#misuse(method, `returned an object without \`items\` for ${kind}`, LIST_FIX);
    const values = new Map<string, ServedOffer>();
    const entries = (items as unknown[]).map((entry, index): Item => {
      const what = `entry ${index} of ${kind}`;
      if (!isObject(entry)) throw this.#misuse(method, `returned ${describeValue(entry)} as ${what}`, LIST_FIX);
      if (!isOffer(entry)) return this.#entry(method, kind, entry, what);
      const served = this.#compile(method, kind, entry);
      values.set(served.key, served);
      return served.item;
    });
    return {
      list: { items: entries, ...this.#cache(method, kind, cache) },
      values,
      restricted: [...values.values()].some(({ visibleTo }) => visibleTo !== undefined),
    };
  }

  /** Returns the list without the values that this caller does not see. */
  #visible(kind: OfferKind, { list, values, restricted }: ReadList, call: SourceCall): OfferList {
    if (!restricted) return list;
    const hidden = new Set<Item>();
    for (const value of values.values()) if (!this.#local.allows(kind, value, call)) hidden.add(value.item);
    const cache = list.cache ?? this.#config.hints[kind];
    return { items: list.items.filter((item) => !hidden.has(item)), cache: { ...cache, scope: "private" } };
  }

  #findListed(kind: OfferKind, name: string, call: SourceCall): MaybePromise<FoundOffer | undefined> {
    return whenReady(this.#read(kind, call), ({ list, values }): MaybePromise<FoundOffer | undefined> => {
      const value = values.get(name);
      if (value !== undefined) return this.#local.allows(kind, value, call) ? value : undefined;
      const { key } = OFFER_KINDS[kind];
      if (list.items.some((item) => (item as unknown as Record<string, unknown>)[key] === name)) {
        throw this.#misuse("list", `lists the entry "${name}" of ${kind}, but the source has no \`find\``, FIND_FIX);
      }
      if (kind !== "resources") return undefined;
      return whenReady(this.#read("resourceTemplates", call), (templates) => {
        for (const template of templates.values.values()) {
          const member = this.#local.memberOf(template, name, call);
          if (member !== undefined) return member;
        }
        return undefined;
      });
    });
  }

  #foundValue(kind: OfferKind, name: string, offer: Offer, call: SourceCall): FoundOffer | undefined {
    if (kind === "resources" && offer.kind === "resourceTemplate") {
      return this.#local.memberOf(this.#compile("find", "resourceTemplates", offer), name, call);
    }
    const served = this.#compile("find", kind, offer);
    return this.#local.allows(kind, served, call) ? served : undefined;
  }

  #compile(method: string, kind: OfferKind, offer: Offer): ServedOffer {
    if (KIND_OF_VALUE[offer.kind] === kind) return this.#local.compile(offer);
    throw this.#misuse(method, `returned a ${String(offer.kind)} for ${kind}`, `Return only ${kind} for "${kind}".`);
  }

  #checkedOffer(kind: OfferKind, name: string, found: Record<string, unknown>, call: SourceCall): FoundOffer {
    const what = `${kind} "${name}"`;
    // The cast comes before the checks. Only `run`, `scopes`, `item` and `cache` are checked below.
    const given = found as unknown as FoundOffer;
    const { item, scopes, cache, task, rate, headers, wrapsOutput, assumed } = given;
    if (typeof given.run !== "function")
      throw this.#misuse("find", `returned an object without \`run\` for ${what}`, FIND_FIX);
    if (scopes !== undefined && (!Array.isArray(scopes) || scopes.some((scope) => typeof scope !== "string"))) {
      throw this.#misuse(
        "find",
        `returned \`scopes\` for ${what} that are not a list of strings`,
        'Return `scopes: ["a"]`.',
      );
    }
    const templates = kind === "resources" && item !== undefined && "uriTemplate" in item;
    if (item !== undefined) {
      if (!isObject(item))
        throw this.#misuse("find", `returned ${describeValue(item)} as \`item\` of ${what}`, ENTRY_FIX);
      this.#entry("find", templates ? "resourceTemplates" : kind, item, `\`item\` of ${what}`);
    }
    const answered = (method: string, member: string, run: () => MaybePromise<object>) =>
      whenReady(run(), (result: unknown): object => {
        if (result instanceof InputOutcome || (isObject(result) && isAnswer(result[member]))) return result;
        const fix = `Return the result of ${call.request.method}: an object with \`${member}\`.`;
        throw this.#misuse(
          "find",
          `returned an offer for ${what} whose \`${method}\` returned ${describeValue(result)}`,
          fix,
        );
      });
    return {
      ...{ item, scopes, task, rate, headers, wrapsOutput, assumed },
      ...this.#cache("find", kind, cache),
      ...(given.check && { check: (checked) => given.check?.(checked) }),
      run: (running) => answered("run", RESULTS[kind], () => given.run(running)),
      ...(given.complete && {
        complete: (running) => answered("complete", "completion", () => given.complete?.(running) ?? {}),
      }),
    };
  }

  /** Throws for an entry that clients cannot read. */
  #entry(method: string, kind: OfferKind, entry: object, what: string): Item {
    for (const member of new Set([OFFER_KINDS[kind].key, "name"])) {
      const value = (entry as Record<string, unknown>)[member];
      if (typeof value === "string" && value !== "") continue;
      throw this.#misuse(method, `returned ${what} without \`${member}\``, ENTRY_FIX);
    }
    if (kind === "tools" && !isObject((entry as Record<string, unknown>)["inputSchema"])) {
      throw this.#misuse(method, `returned ${what} without \`inputSchema\``, ENTRY_FIX);
    }
    // The other members are the responsibility of the source.
    return entry as Item;
  }

  #cache(method: string, kind: OfferKind, cache: unknown): Pick<OfferList, "cache"> {
    if (cache === undefined) return {};
    const what = `\`cache\` that \`${method}\` of ${this.#name} returned for ${kind}`;
    return { cache: cacheHint(what, this.#config.hints.read, cache as OfferList["cache"]) };
  }

  /**
   * Calls a method of the source. Adds the names of the method and the source to an error, unless it is an `McpError`,
   * an interruption by a question, an abort or a timeout.
   */
  #callSource(method: string, run: () => unknown): unknown {
    const failed = (thrown: unknown): never => {
      const error = readable(thrown);
      const name = error instanceof Error ? error.name : "";
      if (McpError.is(error) || isInputRequired(error) || name === "AbortError" || name === "TimeoutError") throw error;
      const named = new Error(`\`${method}\` of ${this.#name} failed: ${thrownMessage(error)}`, { cause: error });
      named.stack = `${named.message}\n${traceOf(error)}`;
      throw named;
    };
    try {
      const value = run();
      return isThenable(value) ? Promise.resolve(value).catch(failed) : value;
    } catch (error) {
      return failed(error);
    }
  }

  #misuse(method: string, problem: string, fix: string): McpError {
    return new McpError("misuse", `\`${method}\` of ${this.#name} ${problem}`, { fix });
  }

  #definition(method: string, problem: string, fix: string): McpError {
    return new McpError("invalid_definition", `\`${method}\` of ${this.#name} ${problem}`, { fix });
  }

  /** Warns of an unusable return value. If the value is a promise that rejects, warns of the rejection. */
  #warnUnusable(method: string, value: unknown): void {
    if (!isThenable(value)) return this.#warn(method, `returned ${describeValue(value)}`);
    Promise.resolve(value).then(
      () => this.#warn(method, "returned a promise instead of a value"),
      (error) => this.#warn(method, `failed: ${thrownMessage(error)}`),
    );
  }

  #warn(method: string, problem: string): void {
    this.#config.platform.warn(`\`${method}\` of ${this.#name} ${problem}`);
  }
}

const CAPABILITIES_FIX = "Return an object at once, such as `{ tools: {} }`.";
const LIST_FIX =
  "Return an array of entries or of values created by `tool`, `resource` or `prompt`, or an object with `items`.";
const ENTRY_FIX =
  "Return tools with `name` and `inputSchema`, prompts with `name`, resources with `uri` and `name`, templates with `uriTemplate` and `name`.";
const FIND_FIX =
  "Return a value created by `tool`, `resource` or `prompt` from `find`, an object with `run`, or undefined.";
const CURSOR_FIX = "Return the cursor of the next page as a string, or no `next` on the last page.";
const KINDS_FIX = `Call the listener with an array of ${ALL_OFFER_KINDS.map((kind) => `"${kind}"`).join(", ")}.`;
const END_FIX = "Return a function that ends the notifications.";

/** Throws for a value that is not a source, while the server is created. */
function checkMembers(source: unknown, name: string): void {
  const wrong = (problem: string) =>
    new McpError("invalid_definition", `${name} ${problem}`, {
      fix: "Pass objects with `capabilities` and `list`.",
    });
  if (typeof source !== "object" || source === null) throw wrong(`is ${describeValue(source)}, not a source`);
  for (const member of ["capabilities", "list", "page", "find", "instructions", "watchOf", "onChange", "close"]) {
    const value: unknown = Reflect.get(source, member);
    const needed = member === "capabilities" || member === "list";
    if (typeof value === "function" || (value === undefined && !needed)) continue;
    throw wrong(`has a \`${member}\` that is ${describeValue(value)}, not a function`);
  }
}

function isOffer(value: object): value is Offer {
  return "kind" in value && "definition" in value;
}

function isAnswer(member: unknown): boolean {
  return Array.isArray(member) || isObject(member);
}

/** Describes a value without its contents. */
function describeValue(value: unknown): string {
  if (isThenable(value)) return "a promise";
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object without the required members" : `a ${typeof value}`;
}
