/**
 * What the keys of Redis stand for: a value, a stream, the figures of a stream, a topic. Each has a namespace of its own.
 */
type Kind = "k" | "s" | "m" | "t";

/** The text that Redis Cluster takes for the place of a key: that of its first braces, if there is any in them. */
export function hashTag(key: string): string | undefined {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : undefined;
}

/** The text of the first braces that are not empty: Redis looks at the first pair alone. */
function laterTag(name: string): string | undefined {
  return /\{([^{}][^}]*)\}/.exec(name)?.[1];
}

/** Names of keys and channels under one prefix. No two names of a kind share a key. */
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

  /** The entries of a stream and its figures, which a script changes together: they have the same place in a cluster. */
  stream(stream: string): [entries: string, figures: string] {
    const tagged = hashTag(stream) !== undefined || laterTag(stream) !== undefined;
    // A tag has no closing brace, and an empty one would be none.
    const tag = tagged ? undefined : stream.replaceAll("}", "") || "-";
    return [this.#name("s", stream, tag), this.#name("m", stream, tag)];
  }

  #name(kind: Kind, name: string, tag = hashTag(name) === undefined ? laterTag(name) : undefined): string {
    return tag === undefined ? `${this.#prefix}${kind}:${name}` : `${this.#prefix}${kind}#{${tag}}${name}`;
  }
}
