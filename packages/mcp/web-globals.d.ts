/**
 * Globals of the web that the declarations of the package name. They compile in a program whose `lib` and `types` declare none
 * of them; where one is declared, it is that one.
 */
declare global {
  interface AbortController {}
  interface AbortSignal {}
  interface CryptoKey {}
  interface Response {}
  interface URL {}
  interface URLSearchParams {}
}

// Types of some runtimes give these type parameters, so an interface would not merge with theirs.
type Global<Name extends string> = typeof globalThis extends { [name in Name]: { prototype: infer T } } ? T : object;
export type MessageEvent = Global<"MessageEvent">;
export type Request = Global<"Request">;
export type RequestInit = typeof globalThis extends { fetch(url: never, init?: infer T): unknown }
  ? NonNullable<T>
  : object;
