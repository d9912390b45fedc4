/** Which release this is. */
import { existsSync, readFileSync } from 'node:fs';
import { apiVersion } from '@muster/registry';
import { z } from 'zod';

const Manifest = z.object({ version: z.string() });

/** Beside the bundle, else that of the repository. */
function release(): string {
  const beside = new URL('package.json', import.meta.url);
  const place = existsSync(beside) ? beside : new URL('../../../package.json', import.meta.url);
  return Manifest.parse(JSON.parse(readFileSync(place, 'utf8'))).version;
}

/** `0.0.0 (API 1.0.0, Node 24.21.0)` */
export const versionText = (): string => `${release()} (API ${apiVersion}, Node ${process.versions.node})`;
