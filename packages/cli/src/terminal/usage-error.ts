/** A command line that cannot be understood: what is wrong with it, and what to write instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly fix: string;

  constructor(message: string, fix: string) {
    super(message);
    this.fix = fix;
  }
}
