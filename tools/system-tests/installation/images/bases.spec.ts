/**
 * Tests that the base images can be built without a registry, and that the compose file has all its
 * variables.
 */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { readCompose } from '../../../deploy/compose.ts';
import { baseImages, recipeOf, standInFor } from './bases.ts';
import { settings } from './installation.ts';

const variables = await settings([8_080, 8_081, 8_082]);

describe('an image that the Dockerfile or the compose file goes on from', () => {
  it('is named by them', async () => {
    const images = await baseImages(variables);
    expect(images.map((image) => image.split(':')[0]).toSorted()).toEqual(
      ['caddy', 'gcr.io/distroless/cc-debian13', 'node', 'postgres', 'redis'].toSorted(),
    );
    expect(images.filter((image) => image.includes('$'))).toEqual([]);
  });

  it('can be made of Debian', async () => {
    for (const image of await baseImages(variables)) {
      const recipe = standInFor(image);
      expect([image, recipe]).toEqual([image, expect.any(String)]);
      expect(await readFile(recipeOf(recipe ?? ''), 'utf8')).toMatch(/^FROM localhost\/debian/m);
    }
  });

  it('has none made for another', () => {
    for (const image of ['grafana/grafana:12.1.0', 'node:24', 'mypostgres:18'])
      expect([image, standInFor(image)]).toEqual([image, undefined]);
  });
});

it('fills in what the compose file asks for, each secret by itself', async () => {
  await expect(readCompose('docker-compose.yml', variables)).resolves.toBeDefined();
  const secrets = Object.entries(variables).filter(([name]) => /_PASSWORD$|_PEPPER$|_SEAL$/.test(name));
  expect(new Set(secrets.map(([, value]) => value)).size).toBe(secrets.length);
});
