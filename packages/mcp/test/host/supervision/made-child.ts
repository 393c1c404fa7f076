import type { ChildExit, ChildSpec } from "@parley/mcp/supervision";

/** One instance of a child that a test starts and ends as it likes. */
export interface MadeInstance {
  readonly id: string;
  readonly number: number;
  /** Ends the instance by itself. */
  end(exit?: Partial<ChildExit>): void;
}

/** A child whose instances a test ends, and a record of what happened to them. */
export interface MadeChild {
  readonly spec: ChildSpec<MadeInstance>;
  /** The instances that live now. */
  readonly living: Set<MadeInstance>;
  readonly latest: MadeInstance;
  readonly signals: AbortSignal[];
  /** How many of the next starts fail. */
  failing: number;
  crash(reason?: string): void;
  finish(): void;
}

/** Makes a child that writes `+id` to `log` when it starts, `-id` when it is stopped, and `!id` when its start fails. */
export function madeChild(id: string, log: string[], options: Partial<ChildSpec<MadeInstance>> = {}): MadeChild {
  const living = new Set<MadeInstance>();
  const ends = new Map<MadeInstance, (exit: ChildExit) => void>();
  let latest: MadeInstance | undefined;
  let number = 0;
  const made: MadeChild = {
    living,
    signals: [],
    failing: 0,
    get latest() {
      if (latest === undefined) throw new Error(`${id} was not started`);
      return latest;
    },
    crash: (reason = "boom") => made.latest.end({ normal: false, reason }),
    finish: () => made.latest.end({ normal: true, reason: "done" }),
    spec: {
      id,
      start(signal) {
        made.signals.push(signal);
        if (made.failing > 0) {
          made.failing--;
          log.push(`!${id}`);
          throw new Error(`no start of ${id}`);
        }
        log.push(`+${id}`);
        const instance: MadeInstance = {
          id,
          number: ++number,
          end(exit) {
            living.delete(instance);
            ends.get(instance)?.({ normal: false, reason: "boom", ...exit });
          },
        };
        latest = instance;
        living.add(instance);
        return instance;
      },
      ended: (instance) =>
        new Promise((resolve) => {
          ends.set(instance, resolve);
        }),
      stop(instance) {
        if (!living.delete(instance)) return;
        log.push(`-${id}`);
      },
      ...options,
    },
  };
  return made;
}
