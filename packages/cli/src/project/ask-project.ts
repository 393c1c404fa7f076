import { isCancel, select, text } from "@clack/prompts";
import type { Io } from "../terminal/io.js";
import { isPackageName } from "./package-name.js";
import type { ProjectOptions, ProjectTransport } from "./project-files.js";

type Choices = Omit<ProjectOptions, "version">;

/** Asks for the choices that are missing. Undefined if the user cancels. */
export async function askProject(suggested: Choices, given: Partial<Choices>, io: Io): Promise<Choices | undefined> {
  const streams = { input: io.stdin, output: io.stderr, signal: io.signal };
  const name =
    given.name ??
    (await text({
      ...streams,
      message: "Package name",
      initialValue: suggested.name,
      validate: (value) => (isPackageName(value ?? "") ? undefined : "Use lowercase letters, digits and `-`."),
    }));
  if (isCancel(name)) return undefined;
  const description =
    given.description ?? (await text({ ...streams, message: "Purpose", initialValue: suggested.description }));
  if (isCancel(description)) return undefined;
  const transport = given.transport ?? (await askTransport(streams));
  return isCancel(transport) ? undefined : { name, description, transport };
}

function askTransport(streams: Pick<Parameters<typeof text>[0], "input" | "output" | "signal">) {
  return select<ProjectTransport>({
    ...streams,
    message: "Transport",
    options: [
      { value: "both", label: "stdio and HTTP" },
      { value: "stdio", label: "stdio", hint: "started by an application on the same machine" },
      { value: "http", label: "HTTP", hint: "at an address" },
    ],
  });
}
