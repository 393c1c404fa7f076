import { crc32, deflateRawSync } from "node:zlib";

/** 1 January 1980, the first date of the format. A fixed date makes the archive depend on its files only. */
const DATE = 0x0021;
/** The flag for names in UTF-8. */
const UTF8 = 0x0800;
/** Version 2.0, for deflate; the higher byte of "made by" says Unix, so that the mode is read. */
const VERSION = 20;
const MADE_BY = (3 << 8) | VERSION;
const DEFLATE = 8;
const MODE = 0o100644;
const MAX_ENTRIES = 0xffff;
const MAX_BYTES = 0xffffffff;

/**
 * Packs files into a ZIP archive. The same files give the same bytes: entries are sorted, and all have one date and one
 * mode. Throws a `RangeError` for a name that leads out of the archive, and for content that needs ZIP64.
 */
export function zipArchive(files: ReadonlyMap<string, Uint8Array>): Buffer {
  const names = [...files.keys()].sort((a, b) => (a < b ? -1 : 1));
  if (names.length > MAX_ENTRIES) throw new RangeError(`an archive has at most ${MAX_ENTRIES} files`);
  const records: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const name of names) {
    checkName(name);
    const content = files.get(name) ?? new Uint8Array();
    const packed = deflateRawSync(content, { level: 9 });
    const fields = commonFields(content, packed, Buffer.byteLength(name));
    const record = Buffer.concat([uint32(0x04034b50), fields, Buffer.from(name), packed]);
    directory.push(
      // The signature, the version of the writer, the fields, no comment, disk 0, no internal attributes.
      Buffer.concat([uint32(0x02014b50), uint16(MADE_BY), fields, uint16(0), uint16(0), uint16(0)]),
      uint32((MODE << 16) >>> 0),
      uint32(offset),
      Buffer.from(name),
    );
    records.push(record);
    offset += record.length;
  }
  const central = Buffer.concat(directory);
  if (offset + central.length > MAX_BYTES) throw new RangeError(`an archive has at most ${MAX_BYTES} bytes`);
  const count = uint16(names.length);
  const end = [
    uint32(0x06054b50),
    uint16(0),
    uint16(0),
    count,
    count,
    uint32(central.length),
    uint32(offset),
    uint16(0),
  ];
  return Buffer.concat([...records, central, ...end]);
}

/** The fields that the header of a file and its entry in the directory share. */
function commonFields(content: Uint8Array, packed: Uint8Array, nameLength: number): Buffer {
  return Buffer.concat([
    ...[VERSION, UTF8, DEFLATE, 0, DATE].map(uint16),
    ...[crc32(content), packed.length, content.length].map(uint32),
    ...[nameLength, 0].map(uint16),
  ]);
}

function checkName(name: string): void {
  const isSafe = name.split("/").every((part) => part !== "" && part !== "." && part !== "..") && !/[\\:\0]/.test(name);
  if (!isSafe) throw new RangeError(`${JSON.stringify(name)} is not a path inside an archive`);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
