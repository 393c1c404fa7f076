/** What is read from the text of a number field. */
export interface NumberReading {
  /** Undefined for no text, and for one that is no number. */
  readonly value: number | undefined;
  readonly problem?: string | undefined;
}

/** Reads what was typed as a number. */
export function readNumberText(text: string, integer: boolean): NumberReading {
  const typed = text.trim();
  if (typed === "") return { value: undefined };
  const value = Number(typed);
  if (!/^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?$/i.test(typed) || !Number.isFinite(value)) {
    return { value: undefined, problem: "This is not a number; it is not sent." };
  }
  if (integer && !Number.isInteger(value)) return { value, problem: "The schema wants a whole number." };
  if (/^[-+]?[0-9]+$/.test(typed) && !Number.isSafeInteger(value)) {
    return { value, problem: `Too large to be exact: it is sent as ${value}.` };
  }
  return { value };
}
