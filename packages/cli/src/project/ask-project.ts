import { resolve } from "node:path";
import { confirm, isCancel, select, text } from "@clack/prompts";
import type { Io } from "../terminal/io.js";
import type { ProjectChoices } from "./init.js";
import { isPackageName } from "./package-name.js";
import type { ProjectTransport } from "./project-files.js";

/** Asks for the folder of the project, until `problem` accepts it. Undefined if the user cancels. */
export async function askFolder(problem: (folder: string) => string | undefined, io: Io): Promise<string | undefined> {
  const folder = await text({
    ...streamsOf(io),
    message: "Folder",
    initialValue: "my-server",
    validate: (value = "") => problem(resolve(io.cwd, value)),
  });
  return isCancel(folder) ? undefined : folder;
}

/** Asks for the choices that are missing. Undefined if the user cancels. */
export async function askProject(
  suggested: ProjectChoices,
  given: Partial<ProjectChoices>,
  io: Io,
): Promise<ProjectChoices | undefined> {
  const streams = streamsOf(io);
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
  if (isCancel(transport)) return undefined;
  const install = given.install ?? (await confirm({ ...streams, message: "Run npm install?" }));
  return isCancel(install) ? undefined : { name, description, transport, install };
}

function streamsOf({ stdin, stderr, signal }: Io) {
  return { input: stdin, output: stderr, signal };
}

function askTransport(streams: ReturnType<typeof streamsOf>) {
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
