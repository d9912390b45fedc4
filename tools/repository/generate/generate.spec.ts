import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { repositoryRoot } from '@muster/tools';
import { generatedFiles } from './generated.ts';

it('has the files checked in that the sources generate (else: npm run generate)', async () => {
  for (const [file, text] of await generatedFiles())
    expect([file, await readFile(path.join(repositoryRoot, file), 'utf8')]).toEqual([file, text]);
});
