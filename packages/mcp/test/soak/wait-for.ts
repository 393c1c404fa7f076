/** Looks until `check` holds; false when it still does not after `ms`. */
export async function waitFor(check: () => boolean | Promise<boolean>, ms: number, everyMs = 10): Promise<boolean> {
  const until = performance.now() + ms;
  for (;;) {
    if (await check()) return true;
    if (performance.now() >= until) return false;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
