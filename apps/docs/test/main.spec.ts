import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';

it('has nothing beside its sources that it would take for the pages of a bundle', () => {
  expect(existsSync(path.resolve(import.meta.dirname, '../src/site'))).toBe(false);
});
