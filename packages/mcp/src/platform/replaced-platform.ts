import type { Platform } from "./platform.js";

/** The runtime's platform with some members replaced. A program that replaces the clock alone means both clocks. */
export function replacedPlatform(platform: Platform, replaced: Partial<Platform> | undefined): Platform {
  const monotonic = replaced?.monotonic ?? replaced?.now ?? platform.monotonic;
  return { ...platform, ...replaced, monotonic };
}
