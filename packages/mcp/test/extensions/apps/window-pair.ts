import { type HostElement, type ShowAppOptions, showApp } from "@parley/mcp/apps";
import { type AppHost, type ConnectToHostOptions, connectToHost, type ViewWindow } from "@parley/mcp/apps-view";

// Two windows without a browser, for what does not depend on one. Messages are cloned and come later, as between windows.

type Listener = (event: MessageEvent) => void;
const SANDBOX = "https://sandbox.example";

/** The listeners of one window. */
class Messages {
  readonly listeners = new Set<Listener>();
  addEventListener = (_type: "message", listener: Listener) => void this.listeners.add(listener);
  removeEventListener = (_type: "message", listener: Listener) => void this.listeners.delete(listener);

  post(data: unknown, source: unknown, origin: string): void {
    const cloned: unknown = structuredClone(data);
    setTimeout(() => {
      // Safe: these are the members of the event that are read.
      for (const listener of this.listeners) listener({ data: cloned, source, origin } as MessageEvent);
    });
  }
}

const timers = {
  setTimeout: (run: () => void, ms: number) => setTimeout(run, ms),
  clearTimeout: (timer: never) => clearTimeout(timer),
  console,
};

/** The timers of a page, which end when a test says so. */
class HeldTimers {
  readonly #held = new Set<() => void>();

  setTimeout = (run: () => void): unknown => {
    this.#held.add(run);
    return run;
  };

  clearTimeout = (timer: never): void => {
    this.#held.delete(timer);
  };

  expire(): void {
    for (const run of this.#held) {
      this.#held.delete(run);
      run();
    }
  }
}

/** A host that shows a page, both in this process. */
export interface WindowPair {
  readonly app: ReturnType<typeof showApp>;
  readonly host: AppHost;
  /** Sends a message to the host, as the page. */
  send(message: unknown): void;
  /** What the page was sent. */
  readonly sent: unknown[];
  /** Ends the time of all that the page waits for. */
  expire(): void;
}

/** Shows a page that connects with `view`; `early` has the app before the page is there. */
export async function windowPair(
  options: Partial<ShowAppOptions> = {},
  view: ConnectToHostOptions = {},
  early: (app: ReturnType<typeof showApp>) => void = () => {},
): Promise<WindowPair> {
  const atHost = new Messages();
  const atView = new Messages();
  const sent: unknown[] = [];
  let connected: Promise<AppHost> | undefined;
  const parent = { postMessage: (data: unknown) => atHost.post(data, inner, SANDBOX) };
  const element = { style: { height: "" }, scrollWidth: 10, getBoundingClientRect: () => ({ width: 10, height: 20 }) };
  const held = new HeldTimers();
  const viewWindow: ViewWindow = {
    setTimeout: held.setTimeout,
    clearTimeout: held.clearTimeout,
    console,
    parent,
    document: { documentElement: element, body: element },
    addEventListener: atView.addEventListener,
    removeEventListener: atView.removeEventListener,
    requestAnimationFrame: (run) => Number(setTimeout(run)),
  };
  const inner = {
    postMessage(data: unknown) {
      const { method } = data as { method?: string };
      if (method === "ui/notifications/sandbox-resource-ready") {
        connected = connectToHost({ name: "view", version: "1" }, { window: viewWindow, ...view });
        return;
      }
      sent.push(data);
      atView.post(data, parent, SANDBOX);
    },
  };
  const frame = {
    contentWindow: inner,
    style: { width: "", height: "", border: "" },
    setAttribute() {},
    addEventListener() {},
    remove() {},
  };
  const container: HostElement = {
    ownerDocument: {
      createElement: () => frame,
      defaultView: {
        ...timers,
        location: { href: "https://host.example/", origin: "https://host.example" },
        performance,
        addEventListener: atHost.addEventListener,
        removeEventListener: atHost.removeEventListener,
      },
    },
    append() {},
  };
  const page = { uri: "ui://a", html: "<p>", csp: {}, permissions: [], domain: undefined, prefersBorder: undefined };
  const hostInfo = { name: "host", version: "1" };
  const app = showApp(page, { container, sandbox: `${SANDBOX}/`, hostInfo, ...options });
  parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} });
  early(app);
  await app.ready;
  if (connected === undefined) throw new Error("the page was not connected");
  return { app, host: await connected, send: parent.postMessage, sent, expire: () => held.expire() };
}
