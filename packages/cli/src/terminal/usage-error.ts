/** An invalid command line. `fix` states what to write instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly fix: string;

  constructor(message: string, fix: string) {
    super(message);
    this.fix = fix;
  }
}
