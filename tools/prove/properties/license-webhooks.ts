/**
 * Licenses are issued, activated and released while the service is killed, most of all while a receiver has a message in its hands,
 * and its connections break: each event of the trail arrives, under its own id. Times of tries are brought forward.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { Dice } from '../../dev/dice.ts';
import { type Removal, without } from '../guards.ts';
import { type LicenseSite, openLicenseSite } from '../license-site.ts';
import { type Property, type Report, type Scale, type Setting } from '../property.ts';
import { type Scope } from '../services.ts';
import { comesToBe } from '../site.ts';

interface Extent {
  readonly licenses: number;
  readonly breaks: boolean;
}

const extents: Readonly<Record<Scale, Extent>> = {
  short: { licenses: 12, breaks: false },
  long: { licenses: 1_000, breaks: true },
};

const failsOfHundred = 30;
const bringForwardMillis = 100;
const lostAfterMillis = 120_000;

interface Receiver {
  readonly url: string;
  secret: string;
  /** The ids of what was taken. */
  readonly taken: Set<string>;
  readonly wrong: string[];
  /** It answers nothing while this is so. */
  isSilent: boolean;
  /** Messages that it has in its hands and does not answer. */
  unanswered: number;
}

async function openReceiver(scope: Scope, dice: Dice): Promise<Receiver> {
  const failed = new Set<string>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (receiver.isSilent) {
        receiver.unanswered += 1;
        return;
      }
      const id = String(request.headers['webhook-id']);
      // Once each at most: what is tried is that it comes again, not how often.
      const fails = !failed.has(id) && dice.chance(failsOfHundred / 100);
      if (fails) failed.add(id);
      try {
        new Webhook(receiver.secret).verify(body, request.headers as Record<string, string>);
        if (!fails) receiver.taken.add(id);
      } catch (error) {
        receiver.wrong.push(String(error));
      }
      response.statusCode = fails ? 503 : 204;
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.onStop(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    ...{ url: `http://127.0.0.1:${port}/`, secret: '', taken: new Set(), wrong: [] },
    ...{ isSilent: true, unanswered: 0 },
  };
  return receiver;
}

/** The service dies while the receiver has a message, and has not said that it took it. */
async function killInTheMiddle(site: LicenseSite, receiver: Receiver): Promise<void> {
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

async function wrongWith(site: LicenseSite, receiver: Receiver): Promise<[number, string[]]> {
  const { rows } = await site.owner.query<{ id: string }>('select id from licenses.license_events');
  const lost = rows.filter(({ id }) => !receiver.taken.has(id)).length;
  const known = new Set(rows.map(({ id }) => id));
  const madeUp = [...receiver.taken].filter((id) => !known.has(id)).length;
  return [
    rows.length,
    [
      ...(lost > 0 ? [`${lost} of ${rows.length} events were never told`] : []),
      ...(madeUp > 0 ? [`${madeUp} messages were of no event`] : []),
      ...receiver.wrong.slice(0, 5),
    ],
  ];
}

async function run(setting: Setting, extent: Extent, removals: readonly Removal[]): Promise<Report> {
  const dice = new Dice(setting.seed);
  const site = await openLicenseSite(setting.services, removals);
  const receiver = await openReceiver(setting.services, dice.another());
  await site.makePlan({ name: 'told' });
  const { json } = await site.operate('webhooks/create', { url: receiver.url });
  receiver.secret = json['secret'] as string;
  await live(site, 1);
  await killInTheMiddle(site, receiver);

  const breaking = extent.breaks ? site.breakThings(dice.another()) : undefined;
  try {
    for (let left = extent.licenses - 1; left > 0; left -= 100) await live(site, left);
  } finally {
    await breaking?.end();
    await site.service.startAgain();
  }
  // As if the time between tries had passed, until nothing waits any more.
  await comesToBe(async () => {
    const { rowCount } = await site.owner.query(
      `update licenses.webhook_deliveries set next_at = now() where state = 'waiting'`,
    );
    await pause(bringForwardMillis);
    return rowCount === 0;
  }, lostAfterMillis);
  site.requireMet();
  const [events, violations] = await wrongWith(site, receiver);
  const { connections, kills } = site.broken();
  return {
    violations: [...violations, ...site.strange],
    figures: { events, 'service kills': kills, 'broken connections': connections },
  };
}

const deliveredWhenTaken = without(
  'a message waits until its receiver took it',
  `state = 'delivered', settled_at = clock_timestamp() + make_interval(secs => $3 * 0)`,
);

export const licenseWebhooks: Property = {
  name: 'license webhooks',
  promise: 'Each event of a license is delivered, even if the service dies while the message is under way.',
  run: (setting) => run(setting, extents[setting.scale], []),
  controls: [
    {
      name: 'a message counts as delivered when a try reserves it',
      run: (setting) => run(setting, { licenses: 1, breaks: false }, [deliveredWhenTaken]),
    },
  ],
};
