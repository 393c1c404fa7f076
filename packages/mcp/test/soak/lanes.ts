import type { Lane } from "./lane.js";
import { calls } from "./lanes/calls.js";
import { resume } from "./lanes/resume.js";
import { sessions } from "./lanes/sessions.js";
import { streams } from "./lanes/streams.js";

/** Every lane, in the order in which they run. */
export const LANES: readonly Lane[] = [calls, streams, sessions, resume];
