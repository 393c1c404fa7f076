import { isThenable, type MaybePromise, neverUnhandled, whenReady } from "../../encoding/maybe-promise.js";
import { readable, thrownMessage, traceOf } from "../../encoding/thrown-message.js";
import { isObject } from "../../jsonrpc/message.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { ALL_OFFER_KINDS, OFFER_KINDS, type OfferKind } from "../../protocol/features/offer-kinds.js";
import type { Revision } from "../../protocol/revisions.js";
import { InputOutcome } from "../call/asker.js";
import type { ServerConfig } from "../call/facts.js";
import { isInputRequired } from "../call/input-required.js";
import { cacheHint } from "../contract/cache-hints.js";
import type { Watch } from "../contract/resource.js";
import type { FoundOffer, Offer, OfferItems, OfferList, OfferPage, Source, SourceCall } from "../contract/source.js";
import { KIND_OF_VALUE, type LocalSource, type ServedOffer } from "./local.js";

/** A source whose lists and offers have one form. */
export interface PlainSource extends Omit<Source, "list" | "find"> {
  list(kind: OfferKind, call: SourceCall): MaybePromise<OfferList>;
  find(kind: OfferKind, name: string, call: SourceCall): MaybePromise<FoundOffer | undefined>;
  /** True while `find` may open connections, so that it is not called before the call is admitted. */
  readonly connects?: boolean | undefined;
}

type Item = OfferItems[OfferKind];

/** The member of a result that its method requires, by kind. */
const RESULTS: Readonly<Record<OfferKind, string>> = {
  tools: "content",
  prompts: "messages",
  resources: "contents",
  resourceTemplates: "contents",
};

/** A list of a source: its entries, and the values among them. */
interface ReadList {
  readonly list: OfferList;
  readonly values: ReadonlyMap<string, ServedOffer>;
  /** Whether some callers do not see all of it. */
  readonly restricted: boolean;
}

/**
 * The source of a program. Checks what it returns, compiles the values that it lists and finds, and throws errors that name the
 * source and its method. Throws `invalid_definition` for an object that is no source.
 */
export function checkedSource(source: Source, name: string, local: LocalSource, facts: ServerConfig): PlainSource {
  checkMembers(source, name);
  const checked = new CheckedSource(source, name, local, facts);
  const { page, watchOf, instructions, close, onChange } = source;
  // Optional members stay absent, because their presence decides what is declared.
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
  readonly #facts: ServerConfig;
  /** By the value that `list` returned. Replaced after each change, because a program may have changed that value in place. */
  #lists = new WeakMap<object, ReadList>();

  constructor(source: Source, name: string, local: LocalSource, facts: ServerConfig) {
    this.#source = source;
    this.#name = name;
    this.#local = local;
    this.#facts = facts;
    // A source that cannot say what it has fails where its author sees it.
    const revision = facts.revisions.at(-1);
    if (revision !== undefined) this.capabilities(revision);
  }

  capabilities(revision: Revision): ServerCapabilities {
    let declared: unknown;
    try {
      declared = this.#source.capabilities(revision);
    } catch (error) {
      throw this.#definition("capabilities", `failed: ${thrownMessage(error)}`, CAPABILITIES);
    }
    if (isObject(declared) && !isThenable(declared)) return declared;
    if (isThenable(declared)) neverUnhandled(Promise.resolve(declared));
    throw this.#definition("capabilities", `returned ${described(declared)}`, CAPABILITIES);
  }

  list(kind: OfferKind, call: SourceCall): MaybePromise<OfferList> {
    return whenReady(this.#read(kind, call), (read) => this.#visible(kind, read, call));
  }

  page(kind: OfferKind, cursor: string | undefined, call: SourceCall): MaybePromise<OfferPage> {
    return whenReady(
      this.#calling("page", () => this.#source.page?.(kind, cursor, call)),
      (page: unknown) => {
        if (!isObject(page) || !Array.isArray(page["items"])) {
          throw this.#misuse("page", `returned ${described(page)} for ${kind}`, "Return an object with `items`.");
        }
        const { next } = page;
        if (next !== undefined && next !== null && typeof next !== "string") {
          throw this.#misuse("page", `returned a \`next\` for ${kind} that is ${described(next)}`, CURSOR);
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
      this.#calling("find", () => this.#source.find?.(kind, name, call)),
      (found: unknown) => {
        // Databases say null for a row that is not there.
        if (found === undefined || found === null) return undefined;
        if (!isObject(found)) {
          throw this.#misuse("find", `returned ${described(found)} for ${kind} "${name}"`, FOUND);
        }
        return isOffer(found) ? this.#value(kind, name, found, call) : this.#found(kind, name, found, call);
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
    // Any function can be called with a URI and a function.
    if (watch === undefined || typeof watch === "function") return watch as Watch | undefined;
    this.#notWaited("watchOf", watch);
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
    this.#notWaited("instructions", text);
    return undefined;
  }

  onChange(listener: (kinds: readonly OfferKind[]) => void): () => void {
    let ended = false;
    let end: unknown;
    try {
      end = this.#source.onChange?.((kinds: unknown) => {
        const known: readonly unknown[] = ALL_OFFER_KINDS;
        if (!Array.isArray(kinds) || !kinds.every((kind) => known.includes(kind))) {
          throw this.#misuse("onChange", `told its listener of ${described(kinds)}`, KINDS);
        }
        this.#lists = new WeakMap();
        if (!ended) listener(kinds as OfferKind[]);
      });
    } catch (error) {
      throw this.#definition("onChange", `failed: ${thrownMessage(error)}`, END);
    }
    if (isThenable(end)) neverUnhandled(Promise.resolve(end));
    if (typeof end !== "function") throw this.#definition("onChange", `returned ${described(end)}`, END);
    return () => {
      ended = true;
      // Returned, so that what it rejects with is reported.
      return (end as () => void)();
    };
  }

  #read(kind: OfferKind, call: SourceCall): MaybePromise<ReadList> {
    return whenReady(
      this.#calling("list", () => this.#source.list(kind, call)),
      (listed: unknown) => {
        if (!isObject(listed) && !Array.isArray(listed)) {
          throw this.#misuse("list", `returned ${described(listed)} for ${kind}`, LISTED);
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
    if (!Array.isArray(items)) throw this.#misuse(method, `returned an object without \`items\` for ${kind}`, LISTED);
    const values = new Map<string, ServedOffer>();
    const entries = (items as unknown[]).map((entry, index): Item => {
      const what = `entry ${index} of ${kind}`;
      if (!isObject(entry)) throw this.#misuse(method, `returned ${described(entry)} as ${what}`, LISTED);
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

  /** The list without values that this caller does not see. */
  #visible(kind: OfferKind, { list, values, restricted }: ReadList, call: SourceCall): OfferList {
    if (!restricted) return list;
    const hidden = new Set<Item>();
    for (const value of values.values()) if (!this.#local.allows(kind, value, call)) hidden.add(value.item);
    const cache = list.cache ?? this.#facts.hints[kind];
    return { items: list.items.filter((item) => !hidden.has(item)), cache: { ...cache, scope: "private" } };
  }

  #findListed(kind: OfferKind, name: string, call: SourceCall): MaybePromise<FoundOffer | undefined> {
    return whenReady(this.#read(kind, call), ({ list, values }): MaybePromise<FoundOffer | undefined> => {
      const value = values.get(name);
      if (value !== undefined) return this.#local.allows(kind, value, call) ? value : undefined;
      const { key } = OFFER_KINDS[kind];
      if (list.items.some((item) => (item as unknown as Record<string, unknown>)[key] === name)) {
        throw this.#misuse("list", `names ${kind} "${name}", and there is no \`find\``, FOUND);
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

  #value(kind: OfferKind, name: string, offer: Offer, call: SourceCall): FoundOffer | undefined {
    if (kind === "resources" && offer.kind === "resourceTemplate") {
      return this.#local.memberOf(this.#compile("find", "resourceTemplates", offer), name, call);
    }
    const served = this.#compile("find", kind, offer);
    return this.#local.allows(kind, served, call) ? served : undefined;
  }

  #compile(method: string, kind: OfferKind, offer: Offer): ServedOffer {
    if (KIND_OF_VALUE[offer.kind] === kind) return this.#local.compile(offer);
    throw this.#misuse(method, `returned a ${String(offer.kind)} for ${kind}`, `Return ${kind} for "${kind}" alone.`);
  }

  #found(kind: OfferKind, name: string, found: Record<string, unknown>, call: SourceCall): FoundOffer {
    const what = `${kind} "${name}"`;
    // The members are checked here, those that are data only where a wrong one would not be noticed.
    const given = found as unknown as FoundOffer;
    const { item, scopes, cache, task, rate, headers, wrapsOutput, assumed } = given;
    if (typeof given.run !== "function") throw this.#misuse("find", `returned no \`run\` for ${what}`, FOUND);
    if (scopes !== undefined && (!Array.isArray(scopes) || scopes.some((scope) => typeof scope !== "string"))) {
      throw this.#misuse(
        "find",
        `returned \`scopes\` for ${what} that are no list of strings`,
        'Return `scopes: ["a"]`.',
      );
    }
    const templates = kind === "resources" && item !== undefined && "uriTemplate" in item;
    if (item !== undefined) {
      if (!isObject(item)) throw this.#misuse("find", `returned ${described(item)} as \`item\` of ${what}`, ENTRY);
      this.#entry("find", templates ? "resourceTemplates" : kind, item, `\`item\` of ${what}`);
    }
    const answered = (method: string, member: string, run: () => MaybePromise<object>) =>
      whenReady(run(), (result: unknown): object => {
        if (result instanceof InputOutcome || (isObject(result) && isAnswer(result[member]))) return result;
        const fix = `Return the result of ${call.request.method}: an object with \`${member}\`.`;
        throw this.#misuse("find", `gave ${what} a \`${method}\` that returned ${described(result)}`, fix);
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

  /** An entry that clients can read. */
  #entry(method: string, kind: OfferKind, entry: object, what: string): Item {
    for (const member of new Set([OFFER_KINDS[kind].key, "name"])) {
      const value = (entry as Record<string, unknown>)[member];
      if (typeof value === "string" && value !== "") continue;
      throw this.#misuse(method, `returned ${what} without \`${member}\``, ENTRY);
    }
    if (kind === "tools" && !isObject((entry as Record<string, unknown>)["inputSchema"])) {
      throw this.#misuse(method, `returned ${what} without \`inputSchema\``, ENTRY);
    }
    // What else clients need is as the source says.
    return entry as Item;
  }

  #cache(method: string, kind: OfferKind, cache: unknown): Pick<OfferList, "cache"> {
    if (cache === undefined) return {};
    const what = `\`cache\` that \`${method}\` of ${this.#name} returned for ${kind}`;
    return { cache: cacheHint(what, this.#facts.hints.read, cache as OfferList["cache"]) };
  }

  /** Runs a function of the source. An error that is not meant for the caller gets the name of the function. */
  #calling(method: string, run: () => unknown): unknown {
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

  /** Reports a value that cannot be used; the rejection of a promise with it. */
  #notWaited(method: string, value: unknown): void {
    if (!isThenable(value)) return this.#warn(method, `returned ${described(value)}`);
    Promise.resolve(value).then(
      () => this.#warn(method, "returned a promise, which is not waited for"),
      (error) => this.#warn(method, `failed: ${thrownMessage(error)}`),
    );
  }

  #warn(method: string, problem: string): void {
    this.#facts.platform.warn(`\`${method}\` of ${this.#name} ${problem}`);
  }
}

const CAPABILITIES = "Return an object at once, such as `{ tools: {} }`.";
const LISTED = "Return an array of entries and of values made by `tool` and its siblings, or an object with `items`.";
const ENTRY =
  "Give tools `name` and `inputSchema`, prompts `name`, resources `uri` and `name`, templates `uriTemplate` and `name`.";
const FOUND = "Return from `find` a value made by `tool`, `resource` or `prompt`, an object with `run`, or undefined.";
const CURSOR = "Return the cursor of the next page as a string, or no `next` on the last page.";
const KINDS = `Call it with an array of ${ALL_OFFER_KINDS.map((kind) => `"${kind}"`).join(", ")}.`;
const END = "Return a function that ends the notifications.";

/** Throws for a value that is not a source, when the server is made. */
function checkMembers(source: unknown, name: string): void {
  const wrong = (problem: string) =>
    new McpError("invalid_definition", `${name} ${problem}`, {
      fix: "Pass objects with `capabilities` and `list`.",
    });
  if (typeof source !== "object" || source === null) throw wrong(`is ${described(source)}, not a source`);
  for (const member of ["capabilities", "list", "page", "find", "instructions", "watchOf", "onChange", "close"]) {
    const value: unknown = Reflect.get(source, member);
    const needed = member === "capabilities" || member === "list";
    if (typeof value === "function" || (value === undefined && !needed)) continue;
    throw wrong(`has a \`${member}\` that is ${described(value)}, not a function`);
  }
}

function isOffer(value: object): value is Offer {
  return "kind" in value && "definition" in value;
}

function isAnswer(member: unknown): boolean {
  return Array.isArray(member) || isObject(member);
}

/** Describes a value without its contents. */
function described(value: unknown): string {
  if (isThenable(value)) return "a promise";
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object without what is needed" : `a ${typeof value}`;
}
