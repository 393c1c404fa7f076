import { type FSWatcher, watch } from "node:fs";
import { dirname, relative } from "node:path";
import { type Binding, ServerRegistry } from "@parley/mcp/registry";
import { fileState, ModuleGraph, thrownFailure } from "../modules/module-graph.js";
import { loadServerModule, type ServedModule } from "../target/load-module.js";
import { reportFailure } from "../terminal/failure.js";
import { show } from "../terminal/shown.js";
import type { Terminal } from "../terminal/terminal.js";

const NAME = "module";
/** The events that would end the process, and every connection with it. */
const STRAYS = ["unhandledRejection", "uncaughtException"] as const;
const MOST_REPORTED = 100;
/** How long calls may go on at a server that was replaced. */
const LONGEST_CALL_MS = 5 * 60_000;

/**
 * A module whose server is replaced when its files change: clients stay connected, calls under way end at the old server. A module
 * that cannot be loaded leaves the old one serving.
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
  /** Counts loads: one that a later one overtakes is thrown away. */
  #latest = 0;

  /** Failures of the module that were reported since it was loaded last. */
  readonly #reported = new Set<string>();

  constructor(path: string, graph: ModuleGraph, server: ServedModule, terminal: Terminal, debug: boolean) {
    this.#path = path;
    this.#terminal = terminal;
    this.#debug = debug;
    this.#server = server;
    this.#files = graph.files;
    this.#registry.register(NAME, server);
    this.#watch.watch(graph.files);
    for (const event of STRAYS) process.on(event, this.#stray);
  }

  /** Reports what the module fails with outside of calls, such as in a timer, and goes on serving. A repeated failure is reported once. */
  readonly #stray = (thrown: unknown): void => {
    const failure = thrownFailure(
      thrown,
      this.#path,
      new Set(this.#files.keys()),
      "Handle this failure in the module.",
    );
    if (this.#reported.has(failure.message) || this.#reported.size >= MOST_REPORTED) return;
    this.#reported.add(failure.message);
    reportFailure(this.#terminal, failure, this.#debug);
    this.#terminal.note(this.#terminal.noteStyle.yellow("it happened outside of a call; the server goes on serving"));
  };

  /** What a transport serves. */
  bind(): Binding {
    return this.#registry.bind(NAME);
  }

  /** Ends watching, and closes the server and those that were replaced. */
  async close(): Promise<void> {
    this.#latest++;
    this.#watch.close();
    this.#closing.abort();
    for (const event of STRAYS) process.off(event, this.#stray);
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
      this.#terminal.note(noteStyle.yellow("the version before this change goes on serving"));
      // What the last version that worked consists of may be what has to come back.
      this.#files = new Map([...this.#files, ...graph.files]);
    } else {
      this.#reported.clear();
      this.#files = graph.files;
      this.#swap(outcome.server);
      const ms = Math.round(performance.now() - began);
      const [first = this.#path] = changed;
      const more = changed.length > 1 ? ` and ${changed.length - 1} more` : "";
      const name = relative(this.#terminal.io.cwd, first);
      this.#terminal.note(show`${noteStyle.green("reloaded")} after a change of ${name}${more}, in ${ms} ms`);
    }
    this.#watch.watch(this.#files);
  }

  #swap(next: ServedModule): void {
    const old = this.#server;
    if (next === old) return;
    this.#server = next;
    // A server that closed itself has lost its name.
    const isNamed = this.#registry.find(NAME) !== undefined;
    const moved = isNamed ? this.#registry.replace(NAME, next) : this.#registry.register(NAME, next);
    const retired = this.#retire(old, Promise.resolve(moved)).finally(() => this.#retiring.delete(retired));
    this.#retiring.add(retired);
  }

  /** Closes a server when its calls are over. */
  async #retire(old: ServedModule, over: Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    let late: NodeJS.Timeout | undefined;
    let end = () => {};
    await new Promise<void>((resolve) => {
      end = resolve;
      const tooLong = () => {
        this.#terminal.note(show`calls at the replaced server are ended: they took longer than ${LONGEST_CALL_MS} ms`);
        resolve();
      };
      late = setTimeout(tooLong, LONGEST_CALL_MS);
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

/** A save may come as several events: a file beside, a rename, a change of rights. */
const SETTLE_MS = 25;
/** Longest time that events which never cease can put off a look at the files. */
const LONGEST_SETTLE_MS = 200;
/** How often the files are looked at without an event: some file systems tell nothing, and a folder may have been replaced. */
const LOOK_MS = 1_000;
/** Each folder is a watch of the system; the other files are looked at by the clock. */
const MOST_FOLDERS = 1_000;

/**
 * Watches a set of files by watching their folders, so that a file that an editor replaces, or that is deleted and comes back, is
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
    this.#clock = setInterval(() => this.#look(), LOOK_MS);
  }

  /** Watches these files from now on, and tells at once if one has no longer the state that is given. */
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
    else if (now - this.#firstEvent > LONGEST_SETTLE_MS) return;
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#look(), SETTLE_MS);
  }

  #look(): void {
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
      if (!this.#folders.has(folder) && this.#folders.size < MOST_FOLDERS) this.#watchFolder(folder);
    }
  }

  #watchFolder(folder: string): void {
    const forget = (watcher: FSWatcher) => {
      watcher.close();
      if (this.#folders.get(folder) === watcher) this.#folders.delete(folder);
    };
    try {
      const watcher = watch(folder, () => {
        // A folder that was replaced has another number; its watch would be silent from now on.
        if (fileState(folder).split(" ").at(-1) !== number) forget(watcher);
        this.#settle();
      });
      const number = fileState(folder).split(" ").at(-1);
      watcher.on("error", () => forget(watcher));
      this.#folders.set(folder, watcher);
    } catch {
      // The clock looks at its files, and tries again to watch it.
    }
  }
}
