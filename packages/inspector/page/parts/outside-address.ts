/** The address as a browser would visit it, where it is one of http or https; nothing else is ever opened. */
export function outsideAddress(given: string): string | undefined {
  if (!URL.canParse(given)) return undefined;
  const url = new URL(given);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}

/** Opens an address in a new tab, which learns nothing of this one. Anything but http and https is not opened. */
export function openOutside(given: string): void {
  const address = outsideAddress(given);
  if (address !== undefined) window.open(address, "_blank", "noopener,noreferrer");
}
