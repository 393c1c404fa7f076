import { Supervisor, type SupervisorOptions } from "@parley/mcp/supervision";
import { outcome, type Trial } from "./trial.js";

const CHILD = { id: "a", start: () => ({ close() {} }) };

/** Starts one child, then ends with the supervisor. */
const supervised = (options: Partial<SupervisorOptions>, use: (one: Supervisor) => unknown = () => {}) =>
  outcome(async () => {
    const supervisor = new Supervisor({ name: "trial", intensity: { restarts: 0 }, ...options });
    try {
      await use(supervisor);
      await supervisor.start();
      await supervisor.startChild(CHILD);
    } finally {
      await supervisor.close();
    }
  });

export const SUPERVISION_HOOK_TRIALS: Readonly<Record<string, Trial>> = {
  "ChildSpec.stop": (fail) => supervised({ children: [{ ...CHILD, id: "b", stop: fail }] }),
  "RestartOptions.onEvent": (fail) => supervised({ onEvent: fail }),
  "Supervisor.on(listener)": (fail) => supervised({}, (one) => one.on("any", fail)),
};

export const SUPERVISION_ANSWER_TRIALS: Readonly<Record<string, readonly [trial: Trial, ended: string]>> = {
  "ChildSpec.start": [
    (fail) => supervised({}, (one) => one.start().then(() => one.startChild({ id: "b", start: fail }))),
    "bare Error: boom",
  ],
  "ChildSpec.ended": [
    (fail) =>
      outcome(async () => {
        const supervisor = new Supervisor({
          name: "trial",
          intensity: { restarts: 0 },
          children: [{ ...CHILD, ended: fail }],
        });
        await supervisor.start();
        throw (await supervisor.ended).error;
      }),
    "error limit_exceeded",
  ],
};
