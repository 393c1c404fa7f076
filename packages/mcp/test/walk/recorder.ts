/** One function that was entered, or one that went on after an `await`. */
export interface WalkEvent {
  /** Path below `src/`. */
  readonly file: string;
  readonly name: string;
  readonly resumed: boolean;
  /** Files of the functions that run at this moment, outermost first: who called whom, down to the event loop. */
  readonly under: readonly string[];
}

interface Frame {
  readonly file: string;
  readonly name: string;
}

/** What instrumented sources call. */
class Recorder {
  /** Undefined while nothing is recorded. */
  #events: WalkEvent[] | undefined;
  readonly #stack: Frame[] = [];
  /** Events so far, recorded or not: it stands still while nothing happens. */
  count = 0;

  start(): void {
    this.#events = [];
  }

  stop(): WalkEvent[] {
    const events = this.#events ?? [];
    this.#events = undefined;
    return events;
  }

  note(file: string, name: string, resumed = false): void {
    this.count += 1;
    this.#events?.push({ file, name, resumed, under: this.#stack.map((frame) => frame.file) });
  }

  enter(file: string, name: string): Frame {
    this.note(file, name);
    const frame = { file, name };
    this.#stack.push(frame);
    return frame;
  }

  /** Also drops frames above, whose functions threw before they could leave. */
  leave(frame: Frame): void {
    const at = this.#stack.lastIndexOf(frame);
    if (at >= 0) this.#stack.length = at;
  }

  suspend<T>(frame: Frame | undefined, value: T): T {
    if (frame !== undefined) this.leave(frame);
    return value;
  }

  resume<T>(frame: Frame | undefined, file: string, name: string, value: T): T {
    this.note(file, name, true);
    if (frame !== undefined) this.#stack.push(frame);
    return value;
  }

  wrap<T>(frame: Frame, value: T): T {
    this.leave(frame);
    return value;
  }
}

export const recorder = new Recorder();
(globalThis as unknown as { __walk: Recorder }).__walk = recorder;
