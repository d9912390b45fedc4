import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Eight } from './eight.ts';
import { secretFor } from './mailbox.ts';

let mailFolder = '';
beforeAll(async () => {
  mailFolder = await mkdtemp(path.join(tmpdir(), 'muster-mailbox-'));
});
afterAll(() => rm(mailFolder, { recursive: true }));

const eightOf = (folder: string): Eight =>
  ({ orgSlug: 'eight-1', instance: { mailFolder: folder } }) as Eight;
const [first, second, others] = ['a', 'b', 'c'].map((letter) => `inv_${letter.repeat(32)}`);
const write = (name: string, secret: string | undefined, text = `Open this page: ${secret}\n`) =>
  writeFile(path.join(mailFolder, name), text);

it('finds the newest invitation among the mails to one address, also where a line breaks in it', async () => {
  await write('01-jana@eight-1.example.eml', first);
  await write('02-jana@eight-1.example.eml', second, `page=3D${second?.slice(0, 9)}=\r\n${second?.slice(9)}`);
  await write('03-jana@eight-1.example.eml', undefined, 'You were assigned QUIET-1.');
  await write('04-jana@eight-2.example.eml', others);
  await expect(secretFor(eightOf(mailFolder), 'Jana')).resolves.toBe(second);
});

it('waits for a mail that is still on its way', async () => {
  const secret = secretFor(eightOf(mailFolder), 'Kofi');
  await write('05-kofi@eight-1.example.eml', others);
  await expect(secret).resolves.toBe(others);
});
