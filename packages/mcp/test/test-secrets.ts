/** Secrets of servers in tests: long enough to be accepted, and different from each other. */
export const TEST_SECRET = "a secret of tests, with 32 characters or more";
export const OLD_TEST_SECRET = "the secret of tests before it was replaced";
