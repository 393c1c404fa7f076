/** What every lane is given. */
export interface LaneSettings {
  /** 1 is the size that the bars are made for; less is for trying. */
  readonly scale: number;
  /** The lane must end within this time; ten minutes unless the machine is shared. */
  readonly minutes: number;
  /** Makes a file that plain Node runs out of one of the programs beside the lanes. */
  bundle(program: URL): Promise<string>;
  say(line: string): void;
}

/**
 * Counts must be right at every size and on every machine; memory and time say something at full size on a quiet machine.
 */
export type MeasureKind = "count" | "memory" | "time";

/** One figure, with the bar that it must keep where there is one. */
export interface Measure {
  readonly name: string;
  readonly kind: MeasureKind;
  readonly value: number;
  readonly unit: string;
  readonly bar?: string;
  readonly passed?: boolean;
}

export interface LaneResult {
  /** What was actually run. */
  readonly size: Readonly<Record<string, number>>;
  readonly measures: readonly Measure[];
  /** What a reader must know beside the figures. */
  readonly notes?: readonly string[];
}

/** One kind of load. Ends every process that it started, also when it fails. */
export interface Lane {
  readonly name: string;
  readonly what: string;
  run(settings: LaneSettings): Promise<LaneResult>;
}

export function atMost(kind: MeasureKind, name: string, value: number, limit: number, unit: string): Measure {
  // A figure that could not be had is no figure below the bar.
  return { name, kind, value: round(value), unit, bar: `≤ ${figure(limit)}`, passed: value <= limit };
}

export function exactly(name: string, value: number, wanted: number): Measure {
  return { name, kind: "count", value, unit: "", bar: `= ${figure(wanted)}`, passed: value === wanted };
}

/** A figure that is only told. */
export function told(kind: MeasureKind, name: string, value: number, unit: string): Measure {
  return { name, kind, value: round(value), unit };
}

/** A size at some scale, never nothing. */
export function scaled(full: number, scale: number): number {
  return Math.max(1, Math.round(full * scale));
}

export function figure(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 2 });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
