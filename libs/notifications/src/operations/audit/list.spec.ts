import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { notificationsRegistry } from '@muster/notifications-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { audit } from './handlers.ts';

const world = useWorld({ audit });

let people: PeopleOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
});

interface Entry {
  readonly by: PersonOf<typeof world>;
  readonly operation: string;
  readonly outcome: 'allowed' | 'denied';
  readonly at: string;
}

async function insertAuditEntries(entries: readonly Entry[]): Promise<string[]> {
  const ids = entries.map(() => newId());
  for (const [index, { by, operation, outcome, at }] of entries.entries()) {
    await world.rows(
      `with s as (update streams set audit = audit + 1 where org_id = $1 returning audit)
       insert into audit (org_id, seq, id, at, actor, member_id, agent_id, operation, target, outcome, reason, ip, user_agent, request_id)
       select $1, s.audit, $2, $3, $4, $5, $6, $7, 'WEB', $8, $9, '127.0.0.1', 'spec', 'r-1' from s`,
      people.orgId,
      ids[index],
      at,
      {
        kind: by.me.agentId === null ? 'member' : 'agent',
        memberId: by.me.memberId,
        agentId: by.me.agentId,
        name: by.me.name,
      },
      by.me.memberId,
      by.me.agentId,
      operation,
      outcome,
      outcome === 'denied' ? 'role' : null,
    );
  }
  return ids;
}

type Params = Parameters<PersonOf<typeof world>['audit']['list']>[0];

async function readAllPages(who: PersonOf<typeof world>, params: Params): Promise<string[]> {
  const all = [];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await who.audit.list({
      ...params,
      limit: 4,
      ...(cursor !== undefined && { cursor }),
    });
    all.push(...items.map((item) => item.id));
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}

describe('audit.list', () => {
  it('filters by actor, operation, outcome and time, each alone and together', async () => {
    const { ana, chloe, robo } = people;
    const entries: Entry[] = Array.from({ length: 36 }, (_, index) => ({
      by: [ana, chloe, robo][index % 3] ?? ana,
      operation: index % 2 === 0 ? 'stories.update' : 'projects.delete',
      outcome: index % 5 === 0 ? 'denied' : 'allowed',
      at: new Date(Date.UTC(2026, 0, 1, 0, index * 3)).toISOString(),
    }));
    const ids = await insertAuditEntries(entries);
    const [from, to] = [entries[9]?.at ?? '', entries[27]?.at ?? ''];
    const filters: [Params, (entry: Entry) => boolean][] = [
      [{ actorId: chloe.me.memberId }, (entry) => entry.by.me.memberId === chloe.me.memberId],
      [{ actorId: robo.me.agentId ?? '' }, (entry) => entry.by.me.agentId !== null],
      [{ operation: 'projects.delete' }, (entry) => entry.operation === 'projects.delete'],
      [{ operation: 'no.such' }, () => false],
      [{ outcome: 'denied' }, (entry) => entry.outcome === 'denied'],
      [{ outcome: 'allowed' }, (entry) => entry.outcome === 'allowed'],
      [{ from }, (entry) => entry.at >= from],
      [{ to }, (entry) => entry.at <= to],
      [{ from, to }, (entry) => entry.at >= from && entry.at <= to],
    ];
    for (const [params, fits] of filters) {
      for (const [more, alsoFits] of filters) {
        if (Object.keys({ ...params }).some((key) => key in { ...more })) continue;
        const expected = ids.filter((_, index) =>
          entries.slice(index, index + 1).every((entry) => fits(entry) && alsoFits(entry)),
        );
        expect(await readAllPages(ana, { ...params, ...more })).toEqual(expected.reverse());
      }
      const expected = ids.filter((_, index) => entries.slice(index, index + 1).every(fits));
      expect(await readAllPages(people.ben, params)).toEqual(expected.reverse());
    }
    expect(await readAllPages(ana, {})).toEqual(ids.reverse());
  });

  it('shows entries whole', async () => {
    const { robo, chloe, ana } = people;
    const [id] = await insertAuditEntries([
      { by: robo, operation: 'stories.delete', outcome: 'denied', at: '2026-01-01T00:00:00.000Z' },
    ]);
    const page = await ana.audit.list();
    expect(notificationsRegistry.audit.list.result.parse(page)).toEqual(page);
    expect(page).toEqual({
      items: [
        {
          id,
          at: '2026-01-01T00:00:00.000Z',
          tokenId: null,
          operation: 'stories.delete',
          target: 'WEB',
          outcome: 'denied',
          actor: { kind: 'agent', memberId: chloe.me.memberId, agentId: robo.me.agentId, name: 'Robo' },
          reason: 'role',
          ip: '127.0.0.1',
          userAgent: 'spec',
          requestId: 'r-1',
          details: null,
        },
      ],
      nextCursor: null,
    });
  });

  it('is for admins with a token for it, of their own organization', async () => {
    await insertAuditEntries([
      { by: people.ana, operation: 'stories.delete', outcome: 'allowed', at: '2026-01-01T00:00:00.000Z' },
    ]);
    const writer = await world.token(people.orgId, people.ana.me.memberId, { scopes: ['write'] });
    for (const who of [people.chloe, people.dan, people.robo, writer]) {
      await expect(who.audit.list()).rejects.toMatchObject({ status: 403 });
    }
    expect((await (await world.org()).ana.audit.list()).items).toEqual([]);
  });
});

it.each(['activity', 'audit'])(
  '%s takes no change and no removal, also not from the service itself',
  async (table) => {
    await insertAuditEntries([
      { by: people.ana, operation: 'stories.delete', outcome: 'allowed', at: '2026-01-01T00:00:00.000Z' },
    ]);
    for (const sql of [`update ${table} set id = id`, `delete from ${table}`, `truncate ${table}`]) {
      const client = await world.database.app.connect();
      try {
        await client.query('begin');
        await client.query(`select set_config('muster.org_id', $1, true)`, [people.orgId]);
        await expect(client.query(sql)).rejects.toMatchObject({ code: '42501' });
      } finally {
        await client.query('rollback');
        client.release();
      }
    }
  },
);
