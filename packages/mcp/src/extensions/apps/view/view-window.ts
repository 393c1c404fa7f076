/** What a page uses of its window; every browser's window fits. */
export interface ViewWindow {
  readonly parent: { postMessage(message: unknown, targetOrigin: string): void };
  readonly document: { readonly documentElement: ViewElement; readonly body: ViewElement | null };
  readonly console: { warn(message: string): void };
  readonly ResizeObserver?: new (changed: () => void) => { observe(element: never): void; disconnect(): void };
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  removeEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  requestAnimationFrame(run: () => void): number;
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: never): void;
}

/** The part of an element that its size is read from. */
export interface ViewElement {
  readonly style: { height: string };
  getBoundingClientRect(): { readonly width: number; readonly height: number };
  readonly scrollWidth: number;
}
