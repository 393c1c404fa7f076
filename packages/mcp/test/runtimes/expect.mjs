// Stands in for "vitest" where the scenarios run outside of it: the same matchers, without the runner.
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from "@vitest/expect";
import * as chai from "chai";

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

export const expect = (value, message) => chai.expect(value, message);
Object.assign(expect, chai.expect);
Object.assign(expect, globalThis[ASYMMETRIC_MATCHERS_OBJECT]);
setState({ assertionCalls: 0, isExpectingAssertions: false, expectedAssertionsNumber: null }, expect);

/** Tries a matcher until it holds or the time is over. */
expect.poll = (read, { timeout = 20_000, interval = 50 } = {}) =>
  new Proxy(
    {},
    {
      get:
        (_, matcher) =>
        async (...args) => {
          const end = Date.now() + timeout;
          for (;;) {
            try {
              return chai.expect(await read())[matcher](...args);
            } catch (error) {
              if (Date.now() > end) throw error;
              await new Promise((resolve) => setTimeout(resolve, interval));
            }
          }
        },
    },
  );
