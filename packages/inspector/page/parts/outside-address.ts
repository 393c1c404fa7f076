/** Normalizes an http or https URL. Returns undefined for anything else, because the page never opens other URLs. */
export function outsideAddress(given: string): string | undefined {
  if (!URL.canParse(given)) return undefined;
  const url = new URL(given);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}

/** Opens an http or https URL in a new tab. The new tab gets no reference to this tab. Ignores any other URL. */
export function openOutside(given: string): void {
  const address = outsideAddress(given);
  if (address !== undefined) window.open(address, "_blank", "noopener,noreferrer");
}
