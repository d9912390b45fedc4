/**
 * Held and reserved seats never exceed purchased ones, even when seats are taken and removed concurrently.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId, type Pool } from '@muster/driver';
import { type AllHandlers, handlers } from '@muster/operations';
import { addMember } from '@muster/organizations';
import { type People, type Person } from '@muster/testing';
import fc from 'fast-check';
import { useApi } from './api.ts';
import { withoutSeatLock } from './without-seat-lock.ts';

const api = useApi();
const { world } = api;

/** A trigger that checks every commit that could oversell seats, and records violations. */
const watch = `
  create table oversold (org_id uuid, purchased int, held int);
  create function look_for_oversold() returns trigger language plpgsql security definer as $$
  begin
    insert into oversold select s.org_id, s.seats, h.held from subscriptions s, lateral (
      select (select count(*) from members m where m.org_id = s.org_id and m.status = 'active' and m.role <> 'viewer')
        + (select count(*) from invitations i where i.org_id = s.org_id and i.state = 'pending'
            and i.role <> 'viewer' and i.expires_at > clock_timestamp()) as held) h
      where s.org_id = new.org_id and h.held > s.seats;
    return null;
  end $$;
  create constraint trigger watched after insert or update on members
    deferrable initially deferred for each row execute function look_for_oversold();
  create constraint trigger watched after insert or update on invitations
    deferrable initially deferred for each row execute function look_for_oversold();
  create constraint trigger watched after insert or update on subscriptions
    deferrable initially deferred for each row execute function look_for_oversold();`;
beforeAll(() => world.rows(watch));

const oversold = (orgId: string) =>
  world.rows<{ purchased: number; held: number }>(
    'select purchased, held from oversold where org_id = $1',
    orgId,
  );
const buySeats = (orgId: string, seats: number) =>
  world.rows('update subscriptions set seats = $2 where org_id = $1', orgId, seats);
const freshAddress = () => `${newId()}@example.com`;
/** Returns the secret that accepts the invitation, as if its e-mail had just arrived. */
async function secretOf(invitationId: string): Promise<string> {
  const secret = `inv_${invitationId.replaceAll('-', '')}`;
  await world.rows(
    'update invitations set token_hash = sha256($2::bytea) where id = $1',
    invitationId,
    Buffer.from(secret),
  );
  return secret;
}

interface Pools {
  readonly app: Pool;
  readonly owner: Pool;
}
type TakeSeat = (pools: Pools) => Promise<unknown>;

/** Prepares each way to take the last seat, in an organization with one free seat. */
const seatTakers: Record<string, (people: People<AllHandlers>) => Promise<TakeSeat>> = {
  'an invitation': async ({ ana }) => {
    const email = freshAddress();
    return ({ app }) => world.call(ana, handlers.members.invite, { email }, { pool: app });
  },
  'an expired invitation sent again': async ({ ana }) => {
    const { invitation } = await ana.members.invite({ email: freshAddress() });
    await world.rows(
      `update invitations set expires_at = now() - interval '1 s', sent_at = now() - interval '7 days' where id = $1`,
      invitation.id,
    );
    const params = { invitationId: invitation.id };
    return ({ app }) => world.call(ana, handlers.invitations.resend, params, { pool: app });
  },
  'a viewer made member': async ({ ana, orgId }) => {
    const { me } = await world.member(orgId, `Viewer ${newId()}`, 'viewer');
    const params = { memberId: me.memberId, role: 'member' };
    return ({ app }) => world.call(ana, handlers.members.setRole, params, { pool: app });
  },
  'an operator who adds a member': async ({ slug }) => {
    // The member gets a unique name. The seat lock also protects the allocation of handles, so equal names
    // would collide where a test removes that lock.
    const member = { org: slug, email: freshAddress(), name: newId(), role: 'member' } as const;
    return ({ owner }) => addMember(owner, member);
  },
  'an owner who buys one less': async ({ ana }) => {
    return ({ app }) => world.call(ana, handlers.billing.updateSeats, { seats: 3 }, { pool: app });
  },
};
const names = Object.keys(seatTakers);
const pairs = names.flatMap((one, index) => names.slice(index).map((other) => [one, other] as const));
// Two owners who remove a seat want the same result, so both succeed.
const rivals = pairs.filter(([one, other]) => one !== other || one !== 'an owner who buys one less');

/** Lets both transactions run up to their last statement, or up to the seat lock, before either continues. */
async function race(one: string, other: string, pools: Pools): Promise<{ won: number; orgId: string }> {
  const people = await world.org();
  const takes = [await seatTakers[one]?.(people), await seatTakers[other]?.(people)];
  await buySeats(people.orgId, 4);
  const outcomes = await world.runUnderContention(
    { table: 'streams', id: people.orgId, column: 'org_id' },
    ...takes.flatMap((take) => (take === undefined ? [] : [() => take(pools)])),
  );
  return { won: outcomes.filter((outcome) => outcome.status === 'fulfilled').length, orgId: people.orgId };
}

describe('the last seat, wanted by two at once', () => {
  it.each(rivals)('goes to one: %s, %s', async (one, other) => {
    const { won, orgId } = await race(one, other, { app: world.database.app, owner: world.database.owner });
    expect([won, await oversold(orgId)]).toEqual([1, []]);
  });

  it.each(rivals)('would go to both without the lock: %s, %s', async (one, other) => {
    const { won, orgId } = await race(one, other, {
      app: withoutSeatLock(world.database.app),
      owner: withoutSeatLock(world.database.owner),
    });
    expect(won).toBe(2);
    expect(await oversold(orgId)).not.toEqual([]);
  });
});

type Step =
  | { readonly do: 'invite'; readonly role: 'admin' | 'member' | 'viewer' }
  | { readonly do: 'resend' | 'revoke' | 'accept' | 'expire' | 'remove'; readonly which: number }
  | { readonly do: 'setRole'; readonly which: number; readonly role: 'admin' | 'member' | 'viewer' }
  | { readonly do: 'updateSeats'; readonly seats: number }
  | { readonly do: 'addMember'; readonly role: 'member' | 'viewer' };

const which = fc.nat({ max: 7 });
const role = fc.constantFrom('admin' as const, 'member' as const, 'viewer' as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('invite' as const), role }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('resend' as const, 'revoke' as const, 'accept' as const, 'expire' as const),
      which,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('setRole' as const), which, role }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('updateSeats' as const), seats: fc.integer({ min: 3, max: 8 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('addMember' as const),
      role: fc.constantFrom('member' as const, 'viewer' as const),
    }),
  },
);

describe('many at once, in rounds', () => {
  /** Counts each outcome over all runs. A race with only one outcome proves nothing. */
  const ends = new Map<string, number>();
  const note = (what: string, end: string | number): void => {
    ends.set(`${what} ${end}`, (ends.get(`${what} ${end}`) ?? 0) + 1);
  };

  async function take(
    what: Step,
    { people, owner }: { people: People<AllHandlers>; owner: Person<AllHandlers> },
  ): Promise<void> {
    const { orgId, slug } = people;
    const nth = async (table: 'invitations' | 'members', n: number): Promise<string> => {
      const ids = await world.rows<{ id: string }>(
        `select id from ${table} where org_id = $1 order by id`,
        orgId,
      );
      return ids[n % Math.max(1, ids.length)]?.id ?? newId();
    };
    const call = async (operation: string, params: unknown): Promise<void> => {
      const answer = await api.call(owner.me.token, operation, params);
      expect([operation, answer.status, answer.text]).toEqual([
        operation,
        expect.any(Number),
        expect.any(String),
      ]);
      expect([answer.status < 500, answer.text]).toEqual([true, expect.any(String)]);
      note(what.do, answer.body.details?.reason ?? answer.status);
    };
    switch (what.do) {
      case 'invite':
        return call('members.invite', { email: freshAddress(), role: what.role });
      case 'resend':
      case 'revoke':
        return call(`invitations.${what.do}`, { invitationId: await nth('invitations', what.which) });
      case 'accept': {
        const token = await secretOf(await nth('invitations', what.which));
        const answer = await api.request('/invitations/accept', { body: { token, name: 'Noor' } });
        expect([answer.status < 500, answer.text]).toEqual([true, expect.any(String)]);
        note(what.do, answer.body.details?.reason ?? answer.status);
        return;
      }
      case 'expire':
        // The column stores milliseconds and may round up. With `now()`, an expired invitation could then
        // become pending again.
        await world.rows(
          `update invitations set expires_at = least(expires_at, clock_timestamp() - interval '1 second'),
             sent_at = sent_at - interval '7 days'
           where id = $1 and state = 'pending'`,
          await nth('invitations', what.which),
        );
        return;
      case 'setRole':
        return call('members.setRole', { memberId: await nth('members', what.which), role: what.role });
      case 'remove':
        return call('members.removeMember', { memberId: await nth('members', what.which) });
      case 'updateSeats':
        return call('billing.updateSeats', { seats: what.seats });
      case 'addMember': {
        const member = { org: slug, email: freshAddress(), name: 'Noor', role: what.role };
        const [outcome] = await Promise.allSettled([addMember(world.database.owner, member)]);
        if (outcome.status === 'rejected')
          expect(outcome.reason).toMatchObject({ details: { reason: 'seats_exhausted' } });
        note(what.do, outcome.status);
      }
    }
  }

  it('never sell a seat twice, and leave a ledger in which each line follows from the one before', async () => {
    const rounds = fc.array(fc.array(step, { minLength: 2, maxLength: 6 }), { minLength: 3, maxLength: 6 });
    const raced = fc.asyncProperty(rounds, async (all) => {
      const people = await world.org();
      const { orgId, ana } = people;
      await buySeats(orgId, 6);
      for (const round of all) {
        await Promise.all(
          round.map(async (what) => {
            await take(what, { people, owner: ana });
            expect(await oversold(orgId)).toEqual([]);
          }),
        );
        const { usage } = await ana.billing.seatUsage();
        expect(usage.used + usage.pending).toBeLessThanOrEqual(usage.purchased);
        expect(usage.available).toBe(usage.purchased - usage.used - usage.pending);
      }
      const ledger = await world.rows<{ from_seats: number; to_seats: number }>(
        'select from_seats, to_seats from seat_ledger where org_id = $1 order by version',
        orgId,
      );
      let seats = 6;
      for (const line of ledger) {
        expect(line.from_seats).toBe(seats);
        seats = line.to_seats;
      }
      expect((await ana.billing.seatUsage()).usage.purchased).toBe(seats);
    });
    const bothEnds = [
      'invite 200',
      'invite seats_exhausted',
      'accept 200',
      'updateSeats 200',
      'updateSeats seats_in_use',
    ];
    // The outcome is random, so the race repeats until every pair had both outcomes. A second repetition is
    // rarely needed.
    for (let turn = 0; turn < 10 && (turn === 0 || !bothEnds.every((end) => ends.has(end))); turn += 1) {
      await fc.assert(raced, { numRuns: 10 });
    }
    expect([...ends.keys()]).toEqual(expect.arrayContaining(bothEnds));
  }, 300_000);
});
