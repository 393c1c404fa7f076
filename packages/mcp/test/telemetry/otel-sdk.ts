import { context, metrics, type SpanContext, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

/** The SDK of OpenTelemetry in this process, with exporters that keep everything in memory. */
export function startSdk() {
  const spans = new InMemorySpanExporter();
  const durations = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: durations, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ readers: [reader] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  metrics.setGlobalMeterProvider(meters);
  return {
    /** The spans that have ended since the last call, in order of their start. */
    spans(): ReadableSpan[] {
      const finished = [...spans.getFinishedSpans()];
      spans.reset();
      return finished.sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1]);
    },
    /** All points of one histogram so far. */
    async points(name: string) {
      durations.reset();
      await meters.forceFlush();
      const found = durations
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
        .filter((metric) => metric.descriptor.name === name);
      return found.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => ({ descriptor, attributes, value })),
      );
    },
  };
}

const KINDS = ["INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];

/** Spans as a tree of texts, `KIND name`, each with its children. */
export function treeOf(spans: readonly ReadableSpan[], parent?: SpanContext): unknown[] {
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  return spans
    .filter(({ parentSpanContext: of }) =>
      parent === undefined ? of === undefined || !known.has(of.spanId) : of?.spanId === parent.spanId,
    )
    .map((span) => {
      const label = `${KINDS[span.kind]} ${span.name}`;
      const children = treeOf(spans, span.spanContext());
      return children.length === 0 ? label : { [label]: children };
    });
}
