import { editDistance } from "../../encoding/nearest-name.js";
import { isObject } from "../../jsonrpc/message.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { Tool } from "../../protocol/features/tools.js";

/**
 * Amount of detail in a hit: `name`, `summary` with the first sentence and the arguments, or `full` with the whole
 * tool.
 */
export type SearchDetail = "name" | "summary" | "full";

/** Options of a search. */
export interface SearchOptions {
  /** Maximum number of hits, from 1 to 100. Default: 10. */
  limit?: number | undefined;
  /** Amount of detail in each hit. Default: `summary`. */
  detail?: SearchDetail | undefined;
  /** Searches only the tools of this server. Default: all servers. */
  server?: string | undefined;
}

/** A tool that a search found. */
export interface ToolHit {
  /** The name to call the tool by. */
  readonly name: string;
  /** The name of the server that has the tool. */
  readonly server: string;
  /** Relevance; higher is better. Comparable only within one search. */
  readonly score: number;
  /** The first sentence of the description, at most 160 characters. Only with `summary`. */
  readonly summary?: string;
  /** The names of the arguments; optional ones end with `?`. Only with `summary`. */
  readonly arguments?: readonly string[];
  /** The whole tool. Only with `full`. */
  readonly tool?: Tool;
}

/** A summary of one server's tools: their number and their topics. */
export interface ToolCategory {
  /** The name of the server. */
  readonly server: string;
  /** Number of tools of the server. */
  readonly count: number;
  /** The most frequent words in the names of its tools, at most 5. */
  readonly topics: readonly string[];
}

interface IndexedTool {
  readonly tool: Tool;
  readonly server: string;
  /** The weighted count of each term. */
  readonly terms: ReadonlyMap<string, number>;
  readonly length: number;
}

const MAX_TOOLS = 20_000;
const MAX_HITS = 100;
const MAX_TOPICS = 5;
const MAX_ARGUMENTS = 64;
const MAX_QUERY_TERMS = 24;
/** Maximum number of similar indexed words that one word of a query is expanded to, in addition to its synonyms. */
const MAX_VARIANTS = 24;
const MAX_QUERY_LENGTH = 500;
const MAX_SUMMARY_LENGTH = 160;

const WEIGHTS = { name: 4, title: 3, server: 2, description: 1.5, argument: 0.7, argumentText: 0.3 };
const PREFIX_WORTH = 0.6;
const SYNONYM_WORTH = 0.55;
const TYPO_WORTH = 0.5;
/** The usual constants of BM25: how soon repetitions stop counting, and how much long texts are penalized. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.6;

/**
 * An index of tools by the words of their names, descriptions and arguments. Ranks by words only: the same query on the
 * same tools always returns the same order.
 *
 * @example
 * ```ts
 * import type { Tool } from "@parley/mcp/protocol";
 * import { ToolSearch } from "@parley/mcp/host";
 *
 * const tools: Tool[] = [{ name: "create_issue", description: "Opens an issue", inputSchema: { type: "object" } }];
 * const search = new ToolSearch();
 * search.update(tools, () => "tracker");
 * const hits = search.search("open an issue");
 * ```
 */
export class ToolSearch {
  readonly #tools = new Map<string, IndexedTool>();
  readonly #postings = new Map<string, Map<string, number>>();
  #totalLength = 0;

  /** Number of indexed tools. */
  get size(): number {
    return this.#tools.size;
  }

  /**
   * Replaces the tools of the index. A tool that is still the same object of the same server is not indexed again.
   * Throws `limit_exceeded` beyond 20,000 tools.
   */
  update(tools: readonly Tool[], serverOf: (tool: Tool) => string): void {
    if (tools.length > MAX_TOOLS) {
      throw new McpError("limit_exceeded", `a search holds at most ${MAX_TOOLS} tools, not ${tools.length}`);
    }
    const names = new Set(tools.map(({ name }) => name));
    for (const name of this.#tools.keys()) if (!names.has(name)) this.#remove(name);
    for (const tool of tools) {
      const server = serverOf(tool);
      const known = this.#tools.get(tool.name);
      if (known?.tool === tool && known.server === server) continue;
      this.#remove(tool.name);
      this.#add(tool, server);
    }
  }

  /** Returns the tool with exactly this name; undefined if there is none. */
  find(name: string): Tool | undefined {
    return this.#tools.get(name)?.tool;
  }

  /** Returns the tools that match the words best, best first. Words may be incomplete or misspelt. */
  search(query: string, options: SearchOptions = {}): ToolHit[] {
    checkOptions("a search", options, "limit detail server");
    const { limit = 10, detail = "summary", server } = options;
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_HITS) {
      throw new McpError("invalid_params", `limit is ${limit}, not a whole number from 1 to ${MAX_HITS}`);
    }
    const terms = [...new Set(searchTerms(query.slice(0, MAX_QUERY_LENGTH)))].slice(0, MAX_QUERY_TERMS);
    const scores = new Map<string, { sum: number; matched: number }>();
    for (const term of terms) {
      for (const [name, score] of this.#scoresOf(term)) {
        if (server !== undefined && this.#tools.get(name)?.server !== server) continue;
        const total = scores.get(name) ?? { sum: 0, matched: 0 };
        total.sum += score;
        total.matched += 1;
        scores.set(name, total);
      }
    }
    return [...scores]
      .map(([name, { sum, matched }]) => ({ name, score: round(sum * (0.4 + (0.6 * matched) / terms.length)) }))
      .sort((one, other) => other.score - one.score || (one.name < other.name ? -1 : 1))
      .slice(0, limit)
      .map(({ name, score }) => this.#hit(name, score, detail));
  }

  /** The servers with the number and the topics of their tools. */
  categories(): ToolCategory[] {
    const servers = new Map<string, { count: number; words: Map<string, number> }>();
    for (const { tool, server } of this.#tools.values()) {
      const category = servers.get(server) ?? { count: 0, words: new Map() };
      category.count++;
      const own = new Set(searchWords(server));
      for (const word of new Set(searchWords(tool.name))) {
        if (word.length > 2 && !own.has(word)) category.words.set(word, (category.words.get(word) ?? 0) + 1);
      }
      servers.set(server, category);
    }
    return [...servers]
      .map(([server, { count, words }]) => ({ server, count, topics: mostFrequent(words) }))
      .sort((one, other) => (one.server < other.server ? -1 : 1));
  }

  #add(tool: Tool, server: string): void {
    const terms = weightedTerms(tool, server);
    const length = [...terms.values()].reduce((sum, count) => sum + count, 0);
    this.#tools.set(tool.name, { tool, server, terms, length });
    this.#totalLength += length;
    for (const [term, count] of terms) {
      const posting = this.#postings.get(term) ?? new Map<string, number>();
      posting.set(tool.name, count);
      this.#postings.set(term, posting);
    }
  }

  #remove(name: string): void {
    const known = this.#tools.get(name);
    if (known === undefined) return;
    this.#tools.delete(name);
    this.#totalLength -= known.length;
    for (const term of known.terms.keys()) {
      const posting = this.#postings.get(term);
      posting?.delete(name);
      if (posting?.size === 0) this.#postings.delete(term);
    }
  }

  /** The best score of each tool for a word or one of its variants. */
  #scoresOf(term: string): Map<string, number> {
    const best = new Map<string, number>();
    const average = this.#totalLength / Math.max(1, this.#tools.size);
    for (const [variant, worth] of this.#variants(term)) {
      const posting = this.#postings.get(variant);
      if (posting === undefined) continue;
      const rarity = Math.log(1 + (this.#tools.size - posting.size + 0.5) / (posting.size + 0.5));
      for (const [name, count] of posting) {
        const length = (this.#tools.get(name)?.length ?? average) / average;
        const often = (count * (SATURATION + 1)) / (count + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length));
        const score = worth * rarity * often;
        if (score > (best.get(name) ?? 0)) best.set(name, score);
      }
    }
    return best;
  }

  #variants(term: string): [string, number][] {
    const variants: [string, number][] = [[term, 1]];
    for (const synonym of synonymsOf(term)) variants.push([synonym, SYNONYM_WORTH]);
    const isKnown = this.#postings.has(term);
    const distance = isKnown || term.length < 4 ? 0 : term.length < 8 ? 1 : 2;
    const near: [string, number][] = [];
    for (const known of this.#postings.keys()) {
      if (known === term) continue;
      if (term.length >= 3 && known.startsWith(term)) near.push([known, PREFIX_WORTH]);
      // The query has a longer form of an indexed word: `repository` for `repo`.
      else if (known.length >= 4 && term.startsWith(known)) near.push([known, PREFIX_WORTH]);
      else if (distance > 0 && editDistance(term, known, distance + 1) <= distance) near.push([known, TYPO_WORTH]);
    }
    near.sort(([one], [other]) => one.length - other.length || (one < other ? -1 : 1));
    return [...variants, ...near.slice(0, MAX_VARIANTS)];
  }

  #hit(name: string, score: number, detail: SearchDetail): ToolHit {
    const found = this.#tools.get(name);
    const hit = { name, server: found?.server ?? "", score };
    if (found === undefined || detail === "name") return hit;
    return detail === "full" ? { ...hit, tool: found.tool } : { ...hit, ...toolSummary(found.tool) };
  }
}

/** The first sentence about a tool, and its arguments. */
function toolSummary(tool: Tool): { summary: string; arguments: string[] } {
  const text = (tool.description ?? tool.title ?? "").trim().replace(/\s+/g, " ");
  const sentence = /^.*?[.!?](?=\s|$)/.exec(text.slice(0, 1000))?.[0] ?? text;
  const summary = sentence.length > MAX_SUMMARY_LENGTH ? `${sentence.slice(0, MAX_SUMMARY_LENGTH - 1)}…` : sentence;
  const required: readonly unknown[] = Array.isArray(tool.inputSchema.required) ? tool.inputSchema.required : [];
  const names = Object.keys(Object(tool.inputSchema.properties)).slice(0, MAX_ARGUMENTS);
  return { summary, arguments: names.map((name) => (required.includes(name) ? name : `${name}?`)) };
}

function weightedTerms(tool: Tool, server: string): Map<string, number> {
  const terms = new Map<string, number>();
  const count = (text: unknown, weight: number) => {
    if (typeof text !== "string") return;
    for (const term of searchTerms(text)) terms.set(term, (terms.get(term) ?? 0) + weight);
  };
  count(tool.name, WEIGHTS.name);
  count(tool.title ?? tool.annotations?.title, WEIGHTS.title);
  count(server, WEIGHTS.server);
  count(tool.description, WEIGHTS.description);
  for (const [name, schema] of Object.entries(Object(tool.inputSchema.properties)).slice(0, MAX_ARGUMENTS)) {
    count(name, WEIGHTS.argument);
    if (isObject(schema)) count(schema["description"], WEIGHTS.argumentText);
  }
  return terms;
}

function mostFrequent(words: ReadonlyMap<string, number>): string[] {
  return [...words]
    .sort(([one, often], [other, seldom]) => seldom - often || (one < other ? -1 : 1))
    .slice(0, MAX_TOPICS)
    .map(([word]) => word);
}

/** Rounds, because sums in another order differ in their last digits, and these must not decide the ranking. */
function round(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}

/** Maximum length of the indexed part of a text. Bounds the work that the texts of a server can cause. */
const MAX_TEXT_LENGTH = 4000;
const MAX_WORD_LENGTH = 40;

const STOP_WORDS = new Set(
  (
    "a an the of to in into on onto for from with without by at as and or but if then than that this these those it its " +
    "is are was were be been do does did can could should would will may might must i me my we our you your he she they " +
    "them their there here what which who whom whose when where how why please want need like some any each every via " +
    "so not no about using use used given"
  ).split(" "),
);

/** Groups of words that names of tools use for the same act or thing. */
const SAME_MEANING = [
  "create add new make insert open register",
  "delete remove erase destroy drop",
  "list enumerate show browse",
  "get fetch read retrieve view show load",
  "update edit modify change set patch rename",
  "search find query lookup seek",
  "send post deliver",
  "run execute start launch trigger invoke",
  "stop cancel abort halt end",
  "upload import",
  "download export",
  "move transfer relocate",
  "copy duplicate clone",
  "message chat",
  "email mail",
  "folder directory",
  "picture image photo",
  "meeting event appointment",
  "person people user contact member",
  "bug issue ticket",
  "pull merge pr",
  "repo repository",
  "db database",
  "doc document",
  "bill invoice",
  "customer client",
  "weather forecast",
  "price cost quote",
  "translate language",
];

const synonyms = /* @__PURE__ */ synonymTable();

function synonymTable(): ReadonlyMap<string, ReadonlySet<string>> {
  const table = new Map<string, Set<string>>();
  for (const group of SAME_MEANING) {
    const stems = group.split(" ").map(stem);
    for (const one of stems) {
      const known = table.get(one) ?? new Set();
      for (const other of stems) if (other !== one) known.add(other);
      table.set(one, known);
    }
  }
  return table;
}

/** Terms with a similar meaning. Most terms have none. */
function synonymsOf(term: string): Iterable<string> {
  return synonyms.get(term) ?? [];
}

/**
 * The index terms of a name or text: without case, accents and endings. Splits camelCase, snake_case and kebab-case,
 * and digits from letters. Scripts that are written without spaces become pairs of characters.
 */
export function searchTerms(text: string): string[] {
  return searchWords(text)
    .filter((word) => !STOP_WORDS.has(word))
    .map(stem);
}

/** The words of a text, before stop words and endings are removed. */
function searchWords(text: string): string[] {
  const spaced = text
    .slice(0, MAX_TEXT_LENGTH)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .replace(/(\p{L})(\p{N})/gu, "$1 $2")
    .replace(/(\p{N})(\p{L})/gu, "$1 $2")
    .toLowerCase();
  const words: string[] = [];
  for (const [word] of spaced.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (/[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}]/u.test(word)) words.push(...pairs(word));
    else words.push(word.slice(0, MAX_WORD_LENGTH));
  }
  return words;
}

function pairs(word: string): string[] {
  const characters = [...word];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Removes the endings of English plurals and verbs, so that `creates`, `creating` and `created` match `create`. */
function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let base = word;
  if (/[^aeiou]ies$/.test(base)) base = `${base.slice(0, -3)}y`;
  else if (/(ss|sh|ch|x|z)es$/.test(base)) base = base.slice(0, -2);
  else if (/[^siu]s$/.test(base)) base = base.slice(0, -1);
  if (/[aeiouy].*ing$/.test(base) && base.length > 5) base = undouble(base.slice(0, -3));
  else if (/[aeiouy].*[^e]ed$/.test(base) && base.length > 4) base = undouble(base.slice(0, -2));
  return base.length > 3 && base.endsWith("e") ? base.slice(0, -1) : base;
}

function undouble(base: string): string {
  return /([bdgmnprt])\1$/.test(base) ? base.slice(0, -1) : base;
}
