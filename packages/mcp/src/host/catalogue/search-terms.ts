/** A query or a field beyond this is cut, which bounds the work that a server's texts can make. */
const LONGEST_TEXT = 4000;
const LONGEST_WORD = 40;

const STOP_WORDS = new Set(
  (
    "a an the of to in into on onto for from with without by at as and or but if then than that this these those it its " +
    "is are was were be been do does did can could should would will may might must i me my we our you your he she they " +
    "them their there here what which who whom whose when where how why please want need like some any each every via " +
    "so not no about using use used given"
  ).split(" "),
);

/** Words that names of tools use for the same act or thing. */
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

/** Terms that mean much the same; empty for most. */
export function synonymsOf(term: string): Iterable<string> {
  return synonyms.get(term) ?? [];
}

/**
 * The words of a name or text as an index has them: without case, accents and endings. Takes camelCase, snake_case and
 * kebab-case apart, and digits from letters. Scripts that are written without spaces become pairs of characters.
 */
export function searchTerms(text: string): string[] {
  return searchWords(text)
    .filter((word) => !STOP_WORDS.has(word))
    .map(stem);
}

/** The same before endings are removed. */
export function searchWords(text: string): string[] {
  const spaced = text
    .slice(0, LONGEST_TEXT)
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
    else words.push(word.slice(0, LONGEST_WORD));
  }
  return words;
}

function pairs(word: string): string[] {
  const characters = [...word];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Removes the endings of English plurals and verbs, so that `creates`, `creating` and `created` meet `create`. */
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
