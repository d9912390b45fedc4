/**
 * The headers of a tar file (POSIX ustar). An archive is written in parts by several processes, so its entries are
 * composed here instead of by a stream.
 */

const blockBytes = 512;
/** The largest size that 11 octal digits can state: 8 GiB. Larger sizes are written in binary, as GNU tar does. */
const maxOctalSize = 8 ** 11 - 1;

/** The end of a tar file: two empty blocks. */
export const tarEndMarker: Buffer = Buffer.alloc(2 * blockBytes);

/** Returns the zeros that follow the content of an entry up to the next block. */
export const tarPadding = (size: number): Buffer =>
  Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);

function writeSize(header: Buffer, size: number): void {
  if (size <= maxOctalSize) {
    header.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
    return;
  }
  header.writeUInt8(0x80, 124);
  header.writeBigUInt64BE(BigInt(size), 128);
}

/** Returns the header of a file. Its name must have at most 100 bytes. */
export function tarHeader(name: string, size: number, modifiedAt: Date): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`the name ${name} is too long for a tar header`);
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0);
  header.write('0000644\0' + '0000000\0' + '0000000\0', 100, 'latin1');
  writeSize(header, size);
  const seconds = Math.floor(modifiedAt.getTime() / 1_000);
  header.write(`${seconds.toString(8).padStart(11, '0')}\0`, 136, 'latin1');
  // The checksum is computed with spaces in its own place.
  header.write('        0', 148, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}
