import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";
import { type Binding, ServerRegistry } from "@parley/mcp/registry";
import { fileState, ModuleGraph, thrownFailure } from "../modules/module-graph.js";
import { loadServerModule, type ServedModule } from "../target/load-module.js";
import { reportFailure } from "../terminal/failure.js";
import { shownPath } from "../terminal/shown-path.js";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";

const NAME = "module";
/** Events that would by default end the process and every connection. */
const STRAY_EVENTS = ["unhandledRejection", "uncaughtException"] as const;
const MAX_REPORTED = 100;
/** Time limit for calls that still run on a replaced server. After it, the server is closed. */
const MAX_CALL_MS = 5 * 60_000;

/**
 * A module whose server is replaced when the module's files change. Clients stay connected, and running calls finish on
 * the old server. If the new version cannot be loaded, the old version continues to serve.
 */
export class ReloadingModule {
  readonly #path: string;
  readonly #terminal: Terminal;
  readonly #debug: boolean;
  readonly #registry = new ServerRegistry();
  readonly #watch = new FileWatch((files) => void this.#reload(files));
  readonly #closing = new AbortController();
  readonly #retiring = new Set<Promise<void>>();
  #files: ReadonlyMap<string, string>;
  #server: ServedModule;
  /** The number of the latest load. The results of earlier loads are discarded. */
  #latest = 0;

  /** Failures of the module that were reported since its last successful load. */
  readonly #reported = new Set<string>();

  constructor(path: string, graph: ModuleGraph, server: ServedModule, terminal: Terminal, debug: boolean) {
    this.#path = path;
    this.#terminal = terminal;
    this.#debug = debug;
    this.#server = server;
    this.#files = graph.files;
    this.#registry.register(NAME, server);
    this.#watch.watch(graph.files);
    for (const event of STRAY_EVENTS) process.on(event, this.#onStrayError);
  }

  /**
   * Reports an error that the module throws outside of calls, such as in a timer. The server continues to serve. A
   * repeated error is reported only once.
   */
  readonly #onStrayError = (thrown: unknown): void => {
    const failure = thrownFailure(thrown, this.#path, new Set(this.#files.keys()), "Handle this error in the module.");
    if (this.#reported.has(failure.message) || this.#reported.size >= MAX_REPORTED) return;
    this.#reported.add(failure.message);
    reportFailure(this.#terminal, failure, this.#debug);
    this.#terminal.note(
      this.#terminal.noteStyle.yellow("the error happened outside of a call; the server continues to serve"),
    );
  };

  /** Returns the binding that a transport serves. */
  bind(): Binding {
    return this.#registry.bind(NAME);
  }

  /** Calls `listener` after each replacement of the server. Returns a function that removes the listener. */
  onReplaced(listener: () => void): () => void {
    return this.#registry.on(({ type }) => type === "replaced" && listener());
  }

  /** Stops watching, and closes the current server and the replaced ones. */
  async close(): Promise<void> {
    this.#latest++;
    this.#watch.close();
    this.#closing.abort();
    for (const event of STRAY_EVENTS) process.off(event, this.#onStrayError);
    await Promise.all([...this.#retiring, this.#closeServer(this.#server)]);
  }

  async #reload(changed: readonly string[]): Promise<void> {
    const load = ++this.#latest;
    const began = performance.now();
    const graph = new ModuleGraph(this.#path);
    const outcome = await loadServerModule(this.#path, graph).then(
      (server) => ({ server }),
      (reason: unknown) => ({ reason }),
    );
    if (load !== this.#latest) {
      if ("server" in outcome && outcome.server !== this.#server) await this.#closeServer(outcome.server);
      return;
    }
    const { noteStyle } = this.#terminal;
    if ("reason" in outcome) {
      reportFailure(this.#terminal, outcome.reason, this.#debug);
      this.#terminal.note(noteStyle.yellow("the previous version continues to serve"));
      // Also watches the files of the last working version, because restoring one of them may correct the failure.
      this.#files = new Map([...this.#files, ...graph.files]);
    } else {
      this.#reported.clear();
      this.#files = graph.files;
      this.#swap(outcome.server);
      const ms = Math.round(performance.now() - began);
      const [first = this.#path] = changed;
      const more = changed.length > 1 ? ` and ${changed.length - 1} more` : "";
      const name = shownPath(first, this.#terminal.io.cwd);
      this.#terminal.note(show`${noteStyle.green("reloaded")} after a change to ${name}${more}, in ${ms} ms`);
    }
    this.#watch.watch(this.#files);
  }

  #swap(next: ServedModule): void {
    const old = this.#server;
    if (next === old) return;
    this.#server = next;
    // A server that closed itself is no longer registered.
    const isNamed = this.#registry.find(NAME) !== undefined;
    const moved = isNamed ? this.#registry.replace(NAME, next) : this.#registry.register(NAME, next);
    const retired = this.#retire(old, Promise.resolve(moved)).finally(() => this.#retiring.delete(retired));
    this.#retiring.add(retired);
  }

  /** Closes a server when its calls have ended, at the latest after `MAX_CALL_MS` or when the module closes. */
  async #retire(old: ServedModule, over: Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    let late: NodeJS.Timeout | undefined;
    let end = () => {};
    await new Promise<void>((resolve) => {
      end = resolve;
      const tooLong = () => {
        this.#terminal.note(show`closing the replaced server: its calls took longer than ${MAX_CALL_MS} ms`);
        resolve();
      };
      late = setTimeout(tooLong, MAX_CALL_MS);
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) resolve();
      void over.then(resolve, resolve);
    });
    signal.removeEventListener("abort", end);
    clearTimeout(late);
    await this.#closeServer(old);
  }

  async #closeServer(server: ServedModule): Promise<void> {
    try {
      await server.close();
    } catch (reason) {
      const why = reason instanceof Error ? reason.message : String(reason);
      this.#terminal.note(show`the server could not be closed: ${why}`);
    }
  }
}

/**
 * Delay between the event of a change and the check of the files, in milliseconds. One save may cause several events,
 * such as a new file, a rename and a change of permissions.
 */
const SETTLE_MS = 25;
/**
 * Milliseconds after the first event during which each further event restarts the delay. Later events do not restart
 * it.
 */
const MAX_SETTLE_MS = 200;
/**
 * Time between polls. Polling is needed because some file systems report no events, and a watched folder may have been
 * replaced.
 */
const POLL_MS = 1_000;
/**
 * Maximum number of watched folders, because each uses a watch of the operating system. Files in further folders are
 * only polled.
 */
const MAX_WATCHED_FOLDERS = 1_000;

/**
 * Watches files through their folders, so that a file that an editor replaces, or that is deleted and restored, is
 * still watched.
 */
class FileWatch {
  readonly #changed: (files: readonly string[]) => void;
  readonly #folders = new Map<string, FSWatcher>();
  readonly #clock: NodeJS.Timeout;
  #states: ReadonlyMap<string, string> = new Map();
  #settling: NodeJS.Timeout | undefined;
  #firstEvent = 0;

  constructor(changed: (files: readonly string[]) => void) {
    this.#changed = changed;
    this.#clock = setInterval(() => this.#poll(), POLL_MS);
  }

  /** Watches these files from now on, and reports files whose state already differs. */
  watch(states: ReadonlyMap<string, string>): void {
    this.#states = states;
    this.#watchFolders();
    this.#settle();
  }

  close(): void {
    clearInterval(this.#clock);
    clearTimeout(this.#settling);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  #settle(): void {
    const now = performance.now();
    if (this.#settling === undefined) this.#firstEvent = now;
    else if (now - this.#firstEvent > MAX_SETTLE_MS) return;
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#poll(), SETTLE_MS);
  }

  #poll(): void {
    clearTimeout(this.#settling);
    this.#settling = undefined;
    const now = new Map([...this.#states.keys()].map((path) => [path, fileState(path)]));
    const changed = [...now].filter(([path, state]) => this.#states.get(path) !== state).map(([path]) => path);
    this.#states = now;
    this.#watchFolders();
    if (changed.length > 0) this.#changed(changed);
  }

  #watchFolders(): void {
    const wanted = new Set([...this.#states.keys()].map((path) => dirname(path)));
    for (const [folder, watcher] of this.#folders) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const folder of wanted) {
      if (!this.#folders.has(folder) && this.#folders.size < MAX_WATCHED_FOLDERS) this.#watchFolder(folder);
    }
  }

  #watchFolder(folder: string): void {
    const forget = (watcher: FSWatcher) => {
      watcher.close();
      if (this.#folders.get(folder) === watcher) this.#folders.delete(folder);
    };
    try {
      const watcher = watch(folder, () => {
        // A replaced folder has another inode, and the watch on the old folder reports nothing from now on.
        if (fileState(folder).split(" ").at(-1) !== number) forget(watcher);
        this.#settle();
      });
      const number = fileState(folder).split(" ").at(-1);
      watcher.on("error", () => forget(watcher));
      this.#folders.set(folder, watcher);
    } catch {
      // Polling covers the files of the folder, and each poll tries to watch the folder again.
    }
  }
}
