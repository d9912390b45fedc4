import { afterAll, expect, it } from '@jest/globals';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makePrivate } from './repository.ts';

const place = mkdtempSync(path.join(tmpdir(), 'private-'));
afterAll(() => {
  rmSync(place, { recursive: true });
});

it('a folder for mails or logs is its owner’s alone, also one that everybody could look into before', () => {
  const old = path.join(place, 'old');
  mkdirSync(old);
  chmodSync(old, 0o755);
  for (const folder of [old, path.join(place, 'new')]) {
    makePrivate(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  }
});
