/** What the tab of the browser keeps over a reload: what was chosen of which connection, and never what was typed. */
const STORED = "parley-inspector-choices";
/** Choices that are kept; the oldest is forgotten. */
const MOST_KEPT = 100;
/** Characters of a name; a longer one is not kept. */
const MOST_NAME = 1_000;

let choices: Map<string, string> | undefined;

/** What was chosen last under a key. It may be anything: whoever asks compares it with what there is, and shows it never. */
export function keptChoice(key: string): string | undefined {
  choices ??= storedChoices();
  return choices.get(key);
}

/** Keeps a choice for as long as the tab of the browser is open. */
export function keepChoice(key: string, name: string): void {
  choices ??= storedChoices();
  choices.delete(key);
  if (name.length <= MOST_NAME) choices.set(key, name);
  const [oldest] = choices.keys();
  if (choices.size > MOST_KEPT && oldest !== undefined) choices.delete(oldest);
  try {
    sessionStorage.setItem(STORED, JSON.stringify([...choices]));
  } catch {
    // A storage that is full or forbidden costs a reload its choice, and nothing else.
  }
}

function storedChoices(): Map<string, string> {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? "[]");
    return new Map((Array.isArray(stored) ? stored : []).filter(isChoice).slice(-MOST_KEPT));
  } catch {
    return new Map();
  }
}

function isChoice(pair: unknown): pair is [string, string] {
  return Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string");
}
