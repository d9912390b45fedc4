import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { dataFolder } from './repository.ts';

export const devFilePath = path.join(dataFolder, 'dev.json');

const Tokens = z.object({
  owner: z.string(),
  admin: z.string(),
  member: z.string(),
  viewer: z.string(),
  agent: z.string(),
  platform: z.string(),
});
/** The demo's tokens. They are stored only in this file; the database has their hashes. */
export type Tokens = z.infer<typeof Tokens>;

const DevFile = z.object({
  /** The address of the console. Null in files written before the console existed. */
  consoleUrl: z.string().nullable().default(null),
  baseUrl: z.string().nullable(),
  mcpUrl: z.string().nullable(),
  licenseUrl: z.string().nullable(),
  /** A license to try. Null in older files. */
  licenseKey: z.string().nullable().default(null),
  /** The address of sign-in. */
  signInUrl: z.string().nullable().default(null),
  docsUrl: z.string().nullable(),
  workerUrl: z.string().nullable(),
  databaseUrl: z.string(),
  redisUrl: z.string(),
  orgSlug: z.string().nullable(),
  projectKey: z.string().nullable(),
  tokens: Tokens.nullable(),
  /** The process id of `npm start`. Null after `npm start` has stopped. */
  pid: z.int().nullable(),
  startedAt: z.string(),
});
/** The facts about a development instance for scripts and people, in `.data/dev.json`. */
export type DevFile = z.infer<typeof DevFile>;

/** Reads the file of the last start. Returns undefined if the file is missing or damaged. */
export function readDevFile(): DevFile | undefined {
  try {
    return DevFile.parse(JSON.parse(readFileSync(devFilePath, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Writes atomically, so that a reader sees the complete old file or the complete new one. */
export function writeDevFile(facts: DevFile): void {
  mkdirSync(dataFolder, { recursive: true });
  const unfinished = `${devFilePath}.new`;
  writeFileSync(unfinished, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, devFilePath);
}
