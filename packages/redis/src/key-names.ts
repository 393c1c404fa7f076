/** Kind of a key: a value, a stream, the state of a stream, or a topic. Each kind has its own namespace. */
type Kind = "k" | "s" | "m" | "t";

/** The hash tag by which Redis Cluster places a key: the text in the first pair of braces, if it is not empty. */
export function hashTag(key: string): string | undefined {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : undefined;
}

/**
 * The text in the first non-empty pair of braces. Redis checks only the first pair, so if that pair is empty,
 * `KeyNames` puts this text in braces before the name.
 */
function laterTag(name: string): string | undefined {
  return /\{([^{}][^}]*)\}/.exec(name)?.[1];
}

/** Names of keys and channels under one prefix. Distinct names of a kind have distinct keys. */
export class KeyNames {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  value(key: string): string {
    return this.#name("k", key);
  }

  topic(topic: string): string {
    return this.#name("t", topic);
  }

  /** Keys of a stream's entries and of its state. A script changes both, so they share a slot in a cluster. */
  stream(stream: string): [entries: string, figures: string] {
    const tagged = hashTag(stream) !== undefined || laterTag(stream) !== undefined;
    // A tag cannot contain a closing brace, and Redis ignores an empty tag.
    const tag = tagged ? undefined : stream.replaceAll("}", "") || "-";
    return [this.#name("s", stream, tag), this.#name("m", stream, tag)];
  }

  #name(kind: Kind, name: string, tag = hashTag(name) === undefined ? laterTag(name) : undefined): string {
    return tag === undefined ? `${this.#prefix}${kind}:${name}` : `${this.#prefix}${kind}#{${tag}}${name}`;
  }
}
