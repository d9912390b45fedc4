/** Reads the e-mails that sign-in writes into a folder, as a recipient would. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { waitUntil } from '@muster/testing';

export function useMails() {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'muster-mails-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const filesTo = async (email: string): Promise<string[]> =>
    (await readdir(folder)).filter((file) => file.endsWith(`-${email}.eml`)).toSorted();
  return {
    folder: () => folder,
    count: async (email: string): Promise<number> => (await filesTo(email)).length,
    /** Returns the link in the newest e-mail, once there are `nth` of them. */
    link: async (email: string, nth = 1): Promise<string> => {
      let found: string | undefined;
      await waitUntil(async () => {
        const files = await filesTo(email);
        if (files.length < nth) return false;
        const text = await readFile(path.join(folder, files.at(-1) ?? ''), 'utf8');
        // Reverses quoted-printable encoding: long lines are folded, and `=` is escaped.
        found = /http:\S+\/auth\/link\?token=[\w-]{43}/.exec(
          text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '='),
        )?.[0];
        return found !== undefined && text.includes('</html>');
      });
      return found ?? '';
    },
  };
}
