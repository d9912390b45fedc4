import { expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { operation, org, type Subject } from '@muster/contract';
import { useWorld } from '@muster/testing';
import { z } from 'zod';
import { handle, type Handler } from './index.ts';

const world = useWorld({});

/** Builds a write that emits an event about a team and returns a record, or none. */
const createHandlerEmitting = (subject: Subject, thing: { id: string } | null): Handler =>
  handle(
    operation({
      name: 'tries.make',
      effect: 'write',
      summary: 'Try it',
      description: 'For specs.',
      access: org('member'),
      params: z.strictObject({ name: z.string().optional(), thingId: z.string().optional() }),
      result: z.object({ secret: z.string(), thing: z.object({ id: z.string() }).nullable() }),
      emits: ['team.created'],
      example: {},
    }),
    async ({ emit }) => {
      emit('team.created', subject, {});
      return { secret: 'x', thing };
    },
  );

it('names the record of a write in the audit: the one that is named, else the one answered, else that of its event', async () => {
  const { orgId, chloe } = await world.org();
  const subject: Subject = { type: 'team', id: newId(), key: null, title: 'Web', projectId: null };
  const thing = { id: newId() };
  await world.call(chloe, createHandlerEmitting(subject, thing), { name: 'x', thingId: 'named' });
  await world.call(chloe, createHandlerEmitting(subject, thing), { name: 'x' });
  await world.call(chloe, createHandlerEmitting(subject, null), { name: 'x' });
  const entries = await world.rows<{ target: string }>(
    'select target from audit where org_id = $1 order by seq',
    orgId,
  );
  expect(entries.map(({ target }) => target)).toEqual(['named', thing.id, subject.id]);
});
