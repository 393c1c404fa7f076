import type { Platform } from "../platform/platform.js";

/** An unguessable name of characters that need no escaping in headers and URLs. */
export function randomName(platform: Platform, bytes: number): string {
  let binary = "";
  for (const byte of platform.randomBytes(bytes)) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
