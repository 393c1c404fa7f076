/** Key in the session storage of the tab. The stored item has selections per connection, never typed text. */
const STORED = "parley-inspector-choices";
/** Maximum number of stored choices. Beyond it, the oldest choice is evicted. */
const MAX_CHOICES = 100;
/** Maximum length of a stored name, in characters. Longer names are not stored. */
const MAX_NAME_LENGTH = 1_000;

let choices: Map<string, string> | undefined;

/** Returns the last choice under a key. Untrusted: compare it with known values, never display it. */
export function storedChoice(key: string): string | undefined {
  choices ??= loadChoices();
  return choices.get(key);
}

/** Stores a choice for as long as the tab is open. */
export function storeChoice(key: string, name: string): void {
  choices ??= loadChoices();
  choices.delete(key);
  if (name.length <= MAX_NAME_LENGTH) choices.set(key, name);
  const [oldest] = choices.keys();
  if (choices.size > MAX_CHOICES && oldest !== undefined) choices.delete(oldest);
  try {
    sessionStorage.setItem(STORED, JSON.stringify([...choices]));
  } catch {
    // If the storage is full or forbidden, the choice lasts until the next reload.
  }
}

function loadChoices(): Map<string, string> {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? "[]");
    return new Map((Array.isArray(stored) ? stored : []).filter(isChoice).slice(-MAX_CHOICES));
  } catch {
    return new Map();
  }
}

function isChoice(pair: unknown): pair is [string, string] {
  return Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string");
}
