/** Tests a token whose access shrinks while its identity is cached. */
import { expect, it } from '@jest/globals';
import { operation, org } from '@muster/contract';
import { useWorld } from '@muster/testing';
import { z } from 'zod';
import { createAuthenticator, execute, handle, type Handler } from './index.ts';

const world = useWorld({});

const createProbeHandler = (effect: 'read' | 'write'): Handler =>
  handle(
    operation({
      ...{ name: 'tries.it', summary: 'Try it', description: 'For specs.', effect, access: org('viewer') },
      ...{ params: z.strictObject({}), result: z.object({}), example: {} },
    }),
    async () => ({}),
  );
const [reads, writes] = [createProbeHandler('read'), createProbeHandler('write')];

it('A token that reaches less since it was remembered does only what it reaches now', async () => {
  const people = await world.org();
  const person = await world.token(people.orgId, people.ana.me.memberId, { scopes: ['write'] });
  const authenticator = createAuthenticator(world.database.app);
  const call = async (handler: Handler) =>
    execute(world.database.app, handler, {
      token: await authenticator.authenticate(person.me.token),
      ...{ params: {}, requestId: 'spec-1', idempotencyKey: null, ip: null, userAgent: null },
    });
  // Uses each of the two scopes twice: before the rights are cached and afterwards.
  for (const scopes of ['{write}', '{read}', '{write}', '{read}']) {
    await world.rows(
      'update tokens set scopes = $2 where hash = sha256($1)',
      Buffer.from(person.me.token),
      scopes,
    );
    await call(reads);
    const write = call(writes);
    if (scopes === '{write}') await expect(write).resolves.toBeDefined();
    else await expect(write).rejects.toMatchObject({ status: 403, details: { reason: 'scope' } });
  }
  await world.rows(
    `update tokens set scopes = '{write}' where hash = sha256($1)`,
    Buffer.from(person.me.token),
  );
  await authenticator.authenticate(person.me.token);
  await world.rows(
    `update tokens set scopes = '{read}' where hash = sha256($1)`,
    Buffer.from(person.me.token),
  );
  await expect(call(writes)).rejects.toMatchObject({ status: 403, details: { reason: 'scope' } });
  await authenticator.close();
});
