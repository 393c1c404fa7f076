const AREAS =
  "APP|AUTHC|AUTHS|BASE|CACHE|CANC|COMP|ELIC|ERA|EXT|HTTP25|HTTP26|LIFE|LOG|MRTR|OTEL|PAGE|PING|PROG|PROMPT|RES|ROOT|SAMP|SEC|SSE24|STDIO|SUB|TASK25|TASK26|TOOL|VER";

/** An id, and what may follow it: more numbers of the same area (`, -14`), or the end of a range (`to HTTP26-30`). */
const MENTION = new RegExp(`\\b(${AREAS})-(\\d+)((?:, -\\d+)*)(?: to (?:\\1-)?(\\d+))?(?!\\w)`, "g");

/** The ids of all rules that a text names, once each. */
export function ruleIds(text: string): Set<string> {
  const ids = new Set<string>();
  for (const [, area = "", first = "", more = "", last] of text.matchAll(MENTION)) {
    const add = (number: number) => ids.add(`${area}-${String(number).padStart(2, "0")}`);
    for (const number of [first, ...(more.match(/\d+/g) ?? [])]) add(Number(number));
    for (let number = Number(first); number <= Number(last ?? 0); number++) add(number);
  }
  return ids;
}
