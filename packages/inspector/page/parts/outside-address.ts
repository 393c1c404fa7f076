/** Normalizes an http or https URL. Undefined for anything else, which is never opened. */
export function outsideAddress(given: string): string | undefined {
  if (!URL.canParse(given)) return undefined;
  const url = new URL(given);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}

/** Opens an http or https URL in a new tab without a reference to this one. Ignores anything else. */
export function openOutside(given: string): void {
  const address = outsideAddress(given);
  if (address !== undefined) window.open(address, "_blank", "noopener,noreferrer");
}
