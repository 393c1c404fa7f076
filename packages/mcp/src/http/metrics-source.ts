/** The form of a text with metrics: the one that every Prometheus reads, or OpenMetrics 1.0. */
export type MetricsFormat = "prometheus" | "openmetrics";

/** What an HTTP server shows at its path for metrics. */
export interface MetricsSource {
  /** All metrics as text. Default: `prometheus`. */
  text(format?: MetricsFormat): string;
  /**
   * Adds a value that is read for each text; several of one name are added up. Returns a function that removes it. Throws for
   * names that Prometheus does not take.
   */
  gauge(name: string, help: string, read: () => number): () => void;
}

/** The media type of each form. */
export const METRICS_TYPES: Readonly<Record<MetricsFormat, string>> = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};
