/** Run by `.ci/run`, or as a step of `scripts/test.mjs`. */
export const IN_EVERY_RUN: readonly string[];

/** Made of commands that every run has. */
export const COMPOSED: readonly string[];

/** Run by a test, in folders of its own: they would change what the user has installed. */
export const IN_TESTS: Readonly<Record<string, string>>;

/** Run by `scripts/check-commands.mjs`, in a form that takes seconds. */
export const SHORT_FORMS: Readonly<Record<string, string>>;
