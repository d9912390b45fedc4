import { expect, it } from '@jest/globals';
import { decodeText, UnreadableFileError } from './source.ts';

const decodeInChunks = async (bytes: Uint8Array, size = 3): Promise<string> => {
  const pieces = async function* pieces() {
    await Promise.resolve();
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  return (await Array.fromAsync(decodeText(pieces()))).join('');
};
const text = 'Id,Title\r\n1,Größe 🎉\r\n';
const utf16 = Buffer.from(`\uFEFF${text}`, 'utf16le');

it.each([
  ['UTF-8', Buffer.from(text)],
  ['UTF-8 with a mark', Buffer.from(`\uFEFF${text}`)],
  ['what PowerShell writes', utf16],
  ['UTF-16 of the other order', Buffer.from(utf16).swap16()],
  ['nothing', Buffer.from('')],
])('reads %s, wherever it is cut', async (_what, bytes) => {
  expect(await decodeInChunks(bytes)).toBe(bytes.length === 0 ? '' : text);
});

it.each([
  ['what spreadsheets call CSV', Buffer.from(text, 'latin1')],
  ['a file that ends within a letter', Buffer.from('Größe').subarray(0, 3)],
])('refuses %s, of which letters would be lost', async (_what, bytes) => {
  await expect(decodeInChunks(bytes)).rejects.toThrow(UnreadableFileError);
});
