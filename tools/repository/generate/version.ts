/**
 * Writes the version of the product to all files that contain it. Changesets set it in the published
 * packages.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { repositoryRoot } from '@muster/tools';

const read = (file: string): Promise<string> => readFile(path.join(repositoryRoot, file), 'utf8');

/** Returns the version that changesets set. */
export async function releasedVersion(): Promise<string> {
  const { version } = JSON.parse(await read('libs/client/package.json')) as { version: string };
  return version;
}

/** Returns the files that contain the version, with their current text. */
export async function versionFiles(): Promise<Map<string, string>> {
  const version = await releasedVersion();
  const places = [
    ['package.json', /(?<=^ {2}"version": ")[^"]+/m],
    ['Dockerfile', /(?<=^ARG VERSION=).+$/m],
    ['tools/deploy/helm/muster/Chart.yaml', /(?<=^(?:v|appV)ersion: ).+$/gm],
    ['libs/contract/src/version.generated.ts', /(?<=productVersion = ')[^']+/],
  ] as const;
  const files = await Promise.all(
    places.map(async ([file, place]) => {
      const text = await read(file);
      if (!place.test(text)) throw new Error(`${file} has no version`);
      return [file, text.replace(place, version)] as const;
    }),
  );
  return new Map(files);
}
