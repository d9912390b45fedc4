/** Tests that calls for one order wait for each other. It observes the lock in Postgres instead of measuring times. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { importBatch, type IncomingLicense } from '../src/operators/import.ts';
import { issueLicenses, type IssueResult, type LicenseOrder } from '../src/operators/issue.ts';
import { getProduct } from '../src/operators/products.ts';
import { inTransaction } from '../src/operators/transaction.ts';
import { type LicenseWorld, openLicenseWorld, waitUntil } from './world.ts';

let world: LicenseWorld;
beforeAll(async () => {
  world = await openLicenseWorld();
});
afterAll(() => world.close());

const order = (orderRef: string, more: Partial<LicenseOrder> = {}): LicenseOrder => ({
  ...{ plan: 'pro', term: { kind: 'perpetual' }, orderRef, ...more },
});

/** Issues the licenses of an order without committing, runs `during`, and then commits. */
async function whileOneIssues<Result>(
  held: LicenseOrder,
  during: () => Promise<Result>,
): Promise<[IssueResult, Result]> {
  let go = (): void => undefined;
  const going = new Promise<void>((resolve) => {
    go = resolve;
  });
  let isIssued = (): void => undefined;
  const issued = new Promise<void>((resolve) => {
    isIssued = resolve;
  });
  const first = inTransaction(world.owner, async (ask) => {
    const result = await issueLicenses(ask, held);
    isIssued();
    await going;
    return result;
  });
  await issued;
  try {
    const result = await during();
    go();
    return [await first, result];
  } finally {
    go();
    await first.catch(() => undefined);
  }
}

/** Lists the backends of this database that wait for an advisory lock. */
const countWaitingBackends = () =>
  world.rows<{ pid: number }>(
    `select l.pid from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and not l.granted and a.datname = current_database() and a.wait_event_type = 'Lock'`,
  );

/** Lists the backends that wait for a row lock. */
const locked = () =>
  world.rows(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event <> 'advisory'`,
  );

describe('two calls for one order', () => {
  it('wait for one another: the second stands at the lock, and then finds what the first one issued', async () => {
    await world.issue();
    const [first, { second, waited }] = await whileOneIssues(order('race-1'), async () => {
      let isOver = false;
      const later = inTransaction(world.owner, (ask) => issueLicenses(ask, order('race-1')));
      const ended = later.then(
        () => (isOver = true),
        () => (isOver = true),
      );
      // Waits until the second call is waiting for the lock, or has ended without waiting for it.
      await waitUntil(async () => isOver || (await countWaitingBackends()).length > 0);
      const stood = await countWaitingBackends();
      void ended;
      return { second: later, waited: stood.length };
    });
    expect(waited).toBe(1);
    const again = await second;
    expect(first.isRepeated).toBe(false);
    expect(again).toMatchObject({ isRepeated: true, licenses: [{ id: first.licenses[0]?.id, key: null }] });
    expect(await world.rows(`select from licenses.licenses where order_ref = 'race-1'`)).toHaveLength(1);
  });

  it('wait for an import that takes the order over, and find what it made', async () => {
    const held = Promise.withResolvers<undefined>();
    const isThere = Promise.withResolvers<undefined>();
    const incoming: IncomingLicense = {
      ...{ orderRef: 'race-4', orderLine: 1, plan: 'pro', term: { kind: 'perpetual' }, customerRef: null },
      ...{ transferLimit: undefined, machineLimit: undefined, key: undefined },
    };
    const importing = inTransaction(world.owner, async (ask) => {
      const product = await getProduct(ask, 'default');
      const outcomes = await importBatch(ask, product, [incoming]);
      isThere.resolve(undefined);
      await held.promise;
      return outcomes;
    });
    await isThere.promise;
    const issuing = inTransaction(world.owner, (ask) => issueLicenses(ask, order('race-4')));
    await waitUntil(async () => (await countWaitingBackends()).length > 0 || (await locked()).length > 0);
    held.resolve(undefined);
    expect(await importing).toMatchObject([{ kind: 'issued' }]);
    expect(await issuing).toMatchObject({ isRepeated: true, licenses: [{ key: null }] });
  });

  it('are let go on where they are of two orders', async () => {
    const [, other] = await whileOneIssues(order('race-2'), () =>
      inTransaction(world.owner, (ask) => issueLicenses(ask, order('race-3'))),
    );
    expect(other.isRepeated).toBe(false);
  });
});
