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
/** The only place where the demo's secrets are kept; the database has their hashes. */
export type Tokens = z.infer<typeof Tokens>;

const DevFile = z.object({
  /** Where people look. A file from before there was a console has none. */
  consoleUrl: z.string().nullable().default(null),
  baseUrl: z.string().nullable(),
  mcpUrl: z.string().nullable(),
  licenseUrl: z.string().nullable(),
  /** A license to try. A file from before there were any has none. */
  licenseKey: z.string().nullable().default(null),
  /** Where people sign in. */
  signInUrl: z.string().nullable().default(null),
  docsUrl: z.string().nullable(),
  workerUrl: z.string().nullable(),
  databaseUrl: z.string(),
  redisUrl: z.string(),
  orgSlug: z.string().nullable(),
  projectKey: z.string().nullable(),
  tokens: Tokens.nullable(),
  /** Of the runner; null when it has stopped. */
  pid: z.int().nullable(),
  startedAt: z.string(),
});
/** What a development instance tells scripts and people about itself, in `.data/dev.json`. */
export type DevFile = z.infer<typeof DevFile>;

/** What the last start wrote; undefined when there was none, or when somebody damaged the file. */
export function readDevFile(): DevFile | undefined {
  try {
    return DevFile.parse(JSON.parse(readFileSync(devFilePath, 'utf8')));
  } catch {
    return undefined;
  }
}

/** In one step: a reader sees the old file or the new one, never half of one. */
export function writeDevFile(facts: DevFile): void {
  mkdirSync(dataFolder, { recursive: true });
  const unfinished = `${devFilePath}.new`;
  writeFileSync(unfinished, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, devFilePath);
}
