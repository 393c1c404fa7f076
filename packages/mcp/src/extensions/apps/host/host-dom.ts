// What the host's side uses of a browser. The library compiles without the types of one, because it runs elsewhere too;
// the elements of every browser fit these.

/** Milliseconds that a timer of a browser can take; a longer one would end at once. */
export const LONGEST_MS = 2 ** 31 - 1;

/** The part of an element that an app is shown in. */
export interface HostElement {
  readonly ownerDocument: {
    createElement(name: "iframe"): HostFrame;
    readonly defaultView: HostWindow | null;
  };
  append(frame: never): void;
}

/** The part of a frame that is used. */
export interface HostFrame {
  readonly contentWindow: { postMessage(message: unknown, targetOrigin: string): void } | null;
  readonly style: { width: string; height: string; border: string };
  setAttribute(name: string, value: string): void;
  addEventListener(type: "load", listener: () => void): void;
  remove(): void;
}

/** The part of a window that is used. */
export interface HostWindow {
  readonly location: { readonly href: string; readonly origin: string };
  readonly performance: { now(): number };
  readonly console: { warn(message: string): void };
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  removeEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: never): void;
}
