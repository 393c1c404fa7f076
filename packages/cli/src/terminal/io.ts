import type { Readable, Writable } from "node:stream";

/** A stream that may be a terminal. */
export type Input = Readable & { isTTY?: boolean | undefined; setRawMode?: ((raw: boolean) => unknown) | undefined };
export type Output = Writable & { isTTY?: boolean | undefined; columns?: number | undefined };

/** The parts of the process that commands use. Tests replace them. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** Aborted when the user interrupts. The command then stops its work and returns. */
  readonly signal: AbortSignal;
}
