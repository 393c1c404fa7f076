/** A program that takes part: one of ours by its path under `programs/`, or one of a peer by its path under the peers' folder. */
export interface Program {
  readonly owner: "here" | "peers";
  readonly file: string;
  readonly args?: readonly string[];
  /** Options for Node itself. */
  readonly node?: readonly string[];
  /** Which Node runs it: a folder of the other runtimes. Default: the one that runs the benchmark. */
  readonly runtime?: string;
}

/** Which form of the protocol's messages a program is given. */
export type MessageEra = "2025" | "2026";

/** One participant of a suite. */
export interface Contender {
  readonly id: string;
  readonly title: string;
  readonly program: Program;
  readonly era?: MessageEra;
  /** More that a kind of measurement needs to know, for example how many tools to ask for. */
  readonly setting?: number;
}

/** Titles that many suites use. */
export const PLAIN = "plain bare program";
export const TUNED = "tuned bare program";
export const V2 = "official v2";
export const V1 = "official v1";

/** A contender in short; its title says what it is, where the programs' names do not. */
export function one(id: string, title: string, program: Program, era?: MessageEra): Contender {
  return { id, title, program, ...(era === undefined ? {} : { era }) };
}

/** Figures of one round, by name. */
export type Figures = Record<string, number>;

/** A contender that has been started and can be measured round by round. */
export interface Bench {
  round(): Promise<Figures>;
  close(): Promise<void>;
}

/** How thorough a run is. */
export interface Effort {
  readonly rounds: number;
  /** How long one round lasts, in milliseconds. */
  readonly roundMs: number;
  /** True when figures are only to show that everything works. */
  readonly quick: boolean;
}

/** A way to measure contenders. */
export type Measure = (contender: Contender, effort: Effort) => Promise<Bench>;

/** Contenders that are measured side by side, in turn, round after round. */
export interface Suite {
  readonly id: string;
  readonly measure: Measure;
  readonly contenders: readonly Contender[];
  /** Rounds where that differs from the run's own: processes that start anew give one figure each, bundles only one at all. */
  readonly rounds?: (effort: Effort) => number;
  /** Whether a round that is thrown away comes first. */
  readonly warmUp: boolean;
}

/** The same suite on another Node, under another name. */
export const onRuntime = (runtime: string, id: string, suite: Suite): Suite => ({
  ...suite,
  id,
  contenders: suite.contenders.map((one) => ({ ...one, program: { ...one.program, runtime } })),
});

/** Programs of this folder. */
export const here = (file: string, ...args: string[]): Program => ({ owner: "here", file, args });

/** Programs with other implementations. */
export const peer = (file: string, ...args: string[]): Program => ({ owner: "peers", file, args });
