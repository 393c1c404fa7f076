export {
  MAX_RECORDING_BYTES,
  parseRecording,
  type RecordedMessage,
  type RecordedTarget,
  type Recording,
  type RecordingHeader,
} from "./recording/recording.js";
export { type RecordingOptions, RecordingWriter, recordingText } from "./recording/recording-writer.js";
export { isSecretName, looksSecret, REDACTED, Redactor, type RedactorOptions } from "./recording/redactor.js";
export type { ReplayVerdict, SkipReason } from "./recording/replay-recording.js";
export {
  type ReplayClientOptions,
  type ReplayedRequest,
  type ReplayOptions,
  replayRecording,
} from "./recording/replay-recording.js";
export { replayedServer } from "./recording/replayed-server.js";
export { requestLine } from "./recording/request-matcher.js";
export { type Difference, differencesOf } from "./recording/result-differences.js";
