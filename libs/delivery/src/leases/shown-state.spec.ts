import { expect, it } from '@jest/globals';
import { useWorld } from '@muster/testing';
import { visibleState } from './states.ts';
import { storedStates } from './states-sql.ts';

const world = useWorld({});

it('the database shows each state as the table of states does, before, at and after the end of a lease or an offer', async () => {
  const now = '2026-11-21T09:30:00.000Z';
  const times = [null, '2026-11-21T09:29:59.999Z', now, '2026-11-21T09:30:00.001Z'];
  const cases = storedStates.flatMap((state) =>
    times.flatMap((lease) => times.map((offer) => ({ state, lease, offer }))),
  );
  const rows = await world.rows<{ shown: string }>(
    `select app.shown_state(c.state, c.lease, c.offer, $4) as shown
     from unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) with ordinality c (state, lease, offer, ord) order by ord`,
    cases.map(({ state }) => state),
    cases.map(({ lease }) => lease),
    cases.map(({ offer }) => offer),
    now,
  );
  const expected = cases.map(({ state, lease, offer }) =>
    visibleState(state, { now, leaseExpiresAt: lease, offerExpiresAt: offer }),
  );
  expect(rows.map(({ shown }) => shown)).toEqual(expected);
  expect(new Set(expected).size).toBe(storedStates.length + 1);
});
