import type { Mutant } from "./mutant.js";

/** Findings of reviews about admission, written back into the sources. */
export const FOUND_ADMISSION: readonly Mutant[] = [
  {
    name: "hook-headers-not-checked",
    recreates: "headers of a hook are first looked at while the reply is written",
    file: "http/reply-headers.ts",
    search: 'NAME.test(name) && !FRAMING.test(name) && typeof value === "string" && VALUE.test(value)',
    replace: "name.length + value.length > 0",
    tests: ["test/http/hooks.test.ts"],
  },
  {
    name: "reply-write-throws",
    recreates: "a reply that cannot be written ends the process, and those of its turn are lost",
    file: "node/http/handler.ts",
    search: "        if (item instanceof NodeIncoming) item.failed();",
    replace: "        throw error;",
    tests: ["test/http/hooks.test.ts"],
  },
  {
    name: "principal-with-empty-key",
    recreates: "callers without a key are one principal",
    file: "transport/authentication.ts",
    search: 'return typeof identity.key === "string" && identity.key !== "";',
    replace: "return true;",
    tests: ["test/http/hooks.test.ts"],
  },
  {
    name: "challenge-throws",
    recreates: "a `challenge` that throws is an unhandled rejection and its request hangs",
    file: "transport/http/server/refusal.ts",
    search: "  } catch (error) {\n    platform.warn(`\\`challenge\\` failed",
    replace: "  } catch (error) {\n    throw error;\n    platform.warn(`\\`challenge\\` failed",
    tests: ["test/http/hooks.test.ts"],
  },
];
