import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { productVersion } from '@muster/registry';
import { z } from 'zod';
import { mcpPath } from '../http/http.ts';

/** The registries' schema of 2025-12-11, reduced to the fields in use. */
const Described = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  name: z
    .string()
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z.string().max(255),
  remotes: z.array(
    z.strictObject({
      type: z.literal('streamable-http'),
      url: z.string().startsWith('https://{host}/'),
      variables: z.strictObject({
        host: z.strictObject({ description: z.string(), isRequired: z.literal(true) }),
      }),
    }),
  ),
});

it('server.json says what registries take, of this version, and addresses that answer', async () => {
  const text = await readFile(path.join(import.meta.dirname, '../../server.json'), 'utf8');
  const { version, remotes } = Described.parse(JSON.parse(text));
  expect(version).toBe(productVersion);
  expect(remotes.map(({ url }) => url.replace('https://{host}', ''))).toEqual([
    mcpPath,
    `${mcpPath}?mode=full`,
  ]);
});
