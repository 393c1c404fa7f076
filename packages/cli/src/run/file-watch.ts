import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";
import { fileState } from "../modules/file-state.js";

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
export class FileWatch {
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
