// A stdio server that answers the first message with one line of as many bytes as it is told, and leaves.
const bytes = Number(process.argv[2]);
const piece = Buffer.alloc(1024 * 1024, "x");
let left = bytes;

function pour() {
  while (left > 0) {
    left -= piece.length;
    if (!process.stdout.write(piece)) return void process.stdout.once("drain", pour);
  }
  process.stdout.write("\n", () => process.exit(0));
}

process.stdout.on("error", () => process.exit(0));
process.stdin.once("data", pour).on("end", () => process.exit(0));
