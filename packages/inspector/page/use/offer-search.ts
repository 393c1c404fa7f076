import type { OfferSummary } from "../../src/contract/offers.js";

interface SearchText {
  readonly name: string;
  readonly title: string;
  readonly rest: string;
}

/** Lower-case texts, computed once per offer because the conversion costs more than the search. */
const texts = new WeakMap<OfferSummary, SearchText>();

function textOf(offer: OfferSummary): SearchText {
  let text = texts.get(offer);
  if (text === undefined) {
    const { name, title = "", description = "", marks } = offer;
    text = {
      name: name.toLowerCase(),
      title: title.toLowerCase(),
      rest: `${description} ${marks.join(" ")}`.toLowerCase(),
    };
    texts.set(offer, text);
  }
  return text;
}

/** Scores the match of one word: from 0 (none) to 4 (prefix of the name). */
function matchScore({ name, title, rest }: SearchText, word: string): number {
  const at = name.indexOf(word);
  if (at === 0) return 4;
  if (at > 0) return 3;
  if (title.includes(word)) return 2;
  return rest.includes(word) ? 1 : 0;
}

/** True if the letters appear in this order, possibly with other letters in between. */
function hasLetters(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/**
 * Returns the offers that contain every word of the query in their name, title, description or marks, best match first.
 * If there are none, returns the offers whose name contains the letters of the query in order.
 */
export function searchOffers(offers: readonly OfferSummary[], query: string): readonly OfferSummary[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return offers;
  const found: { readonly offer: OfferSummary; readonly score: number }[] = [];
  for (const offer of offers) {
    const text = textOf(offer);
    let score = 0;
    for (const word of words) {
      const points = matchScore(text, word);
      if (points === 0) {
        score = 0;
        break;
      }
      score += points;
    }
    if (score > 0) found.push({ offer, score });
  }
  if (found.length > 0) return found.sort((a, b) => b.score - a.score).map(({ offer }) => offer);
  const letters = words.join("");
  return offers.filter((offer) => hasLetters(textOf(offer).name, letters));
}
