export type { OpenTelemetryApi } from "./telemetry/open-telemetry-api.js";
export { type Telemetry, type TelemetryOptions, telemetry } from "./telemetry/telemetry.js";
