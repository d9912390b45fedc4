/** The file that `muster login` writes: addresses with their tokens, by name. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import envPaths from 'env-paths';
import { z } from 'zod';
import { UsageError } from '../failures.ts';

const Profiles = z.object({
  /** The one that counts where none is named. */
  current: z.string().nullable(),
  profiles: z.record(z.string(), z.object({ baseUrl: z.string(), token: z.string() })),
});
export type Profiles = z.infer<typeof Profiles>;

export const firstProfile = 'default';

export const profilesFile = (): string =>
  path.join(envPaths('muster', { suffix: '' }).config, 'profiles.json');

/** None where nobody has signed in yet. */
export async function readProfiles(): Promise<Profiles> {
  const file = profilesFile();
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, profiles: {} };
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return Profiles.parse(JSON.parse(text));
  } catch {
    throw new UsageError(`${file} is damaged; remove it and sign in again`);
  }
}

/** In one step, and for its owner's eyes only. */
export async function writeProfiles(profiles: Profiles): Promise<void> {
  const file = profilesFile();
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, file);
}
