const NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/** What is unusual about the name of a tool; undefined when every client can use it. */
export function toolNameProblem(name: string): string | undefined {
  if (NAME.test(name)) return undefined;
  if (name === "") return "is empty";
  if (name.length > 128) return `has ${name.length} characters; some clients allow 128`;
  return "has characters other than letters, digits, underscore, hyphen and dot; some clients refuse it";
}
