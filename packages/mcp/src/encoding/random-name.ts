import type { Platform } from "../platform/platform.js";

/** A name that cannot be guessed, in characters that headers and URLs carry unchanged. */
export function randomName(platform: Platform, bytes: number): string {
  let binary = "";
  for (const byte of platform.randomBytes(bytes)) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
