/**
 * Licenses are issued, activated and released while the service is killed and its connections break. One kill
 * comes while a receiver has a message and has not answered. Each license event must arrive under its own id.
 * The times of retries are brought forward.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Dice } from '@muster/tools';
import { strayIn } from '../differences.ts';
import { without } from '../guards.ts';
import { type LicenseSite, openLicenseSite } from '../license-site.ts';
import { property, type RunProperty } from '../property.ts';
import { openReceiver, type ProofReceiver } from '../receiver.ts';
import { comesToBe } from '../site.ts';

interface Extent {
  readonly licenses: number;
  readonly breaks: boolean;
}

const bringForwardMillis = 100;
const lostAfterMillis = 120_000;

/** Kills the service while the receiver has a message that it has not acknowledged. */
async function killInTheMiddle(site: LicenseSite, receiver: ProofReceiver): Promise<void> {
  const isInHands = await comesToBe(async () => receiver.unanswered > 0, 20_000);
  if (!isInHands) throw new Error('no message came');
  await site.service.kill();
  receiver.isSilent = false;
  await site.service.startAgain();
}

async function live(site: LicenseSite, licenses: number): Promise<void> {
  for (const { key } of await site.issue('told', Math.min(licenses, 100))) {
    await site.activate(key, 'machine-of-ana-01');
    await site.post('/api/activate/release', { licenseKey: key, machineId: 'machine-of-ana-01' });
  }
}

const run: RunProperty<Extent> = async ({ seed, services }, { licenses, breaks }, removals) => {
  const dice = new Dice(seed);
  const site = await openLicenseSite(services, removals);
  const receiver = await openReceiver(services, dice.another(), { failsOnceEach: true });
  receiver.isSilent = true;
  await site.makePlan({ name: 'told' });
  const { json } = await site.operate('webhooks/create', { url: receiver.url('/') });
  const inbox = receiver.inbox('/', json['secret'] as string);
  await live(site, 1);
  await killInTheMiddle(site, receiver);

  const liveAll = async (): Promise<void> => {
    for (let left = licenses - 1; left > 0; left -= 100) await live(site, left);
  };
  await (breaks ? site.whileBreaking(dice.another(), liveAll) : liveAll());
  // Makes all waiting messages due repeatedly, until none waits any longer. This simulates the time between
  // attempts.
  await comesToBe(async () => {
    const { rowCount } = await site.owner.query(
      `update licenses.webhook_deliveries set next_at = now() where state = 'waiting'`,
    );
    await pause(bringForwardMillis);
    return rowCount === 0;
  }, lostAfterMillis);
  const { rows } = await site.owner.query<{ id: string }>('select id from licenses.license_events');
  const ids = rows.map(({ id }) => id);
  const violations = [...strayIn([...inbox.taken.keys()], ids), ...inbox.problems.slice(0, 5)];
  return site.report(violations, { events: ids.length });
};

const deliveredWhenTaken = without('a message waits until its receiver took it', (guarded) =>
  guarded.replace('next_at', "state = 'delivered', settled_at"),
);

export const licenseWebhooks = property<Extent>({
  name: 'license webhooks',
  promise: 'Each event of a license is delivered, even if the service dies while the message is under way.',
  short: { licenses: 12, breaks: false },
  long: { licenses: 1_000, breaks: true },
  run,
  controls: [
    {
      name: 'a message counts as delivered when a try reserves it',
      leftTo: 'nx long',
      extent: { licenses: 1, breaks: false },
      without: [deliveredWhenTaken],
    },
  ],
});
