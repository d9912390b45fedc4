import { expect, it } from '@jest/globals';

const importsJest = `data:text/javascript,import '@jest/globals'`;

it('loads the product once for all spec files, and what helps specs anew for each', () => {
  expect(import.meta.resolve('@muster/registry')).toMatch(/\/src\/index\.ts$/);
  expect(import.meta.resolve('@muster/testing')).toMatch(/\/src\/index\.ts\?\d+$/);
  expect(import.meta.resolve('@jest/globals')).toMatch(/\/tools\/jest\/native-globals\.ts\?\d+$/);
});

it('refuses to give Jest to what is loaded once', async () => {
  await expect(import(importsJest)).rejects.toThrow('would keep the Jest of the first spec file');
});
