/**
 * Shops send each sale and each renewal several times concurrently, even after an answer was lost. Machines
 * start each trial with several calls. Each sale, renewal and trial must exist once, and all answers about it
 * must be equal.
 */
import { randomUUID } from 'node:crypto';
import { Dice } from '@muster/tools';
import { type GuardRemoval, without } from '../guards.ts';
import { type Answered, type LicenseSite, openLicenseSite, redefine } from '../license-site.ts';
import { countOf } from '../services.ts';
import { property, type Findings, type RunSetup } from '../property.ts';

const callers = 3;
const perOrder = 2;
const extendedDays = 30;
const hour = 3_600_000;

/**
 * A way to make one call several times: either forced to collide by a held lock, or simply at the same time.
 */
type Way = (call: () => Promise<Answered>, held: string, values?: readonly unknown[]) => Promise<Answered[]>;

async function sale(site: LicenseSite, way: Way): Promise<string[]> {
  const orderRef = randomUUID();
  const order = { plan: 'sold', orderRef, count: perOrder };
  const issue = () => site.operate('licenses/issue', order);
  const answers = await way(issue, 'lock table licenses.licenses in share mode');
  const licenses = await countOf(site.owner, 'licenses.licenses where order_ref = $1', [orderRef]);
  const sold = answers.map(({ json }) => (json['licenses'] ?? []) as { id: string; key: string | null }[]);
  const heard = answers.map(({ status }, nth) =>
    [status, ...(sold[nth] ?? []).map(({ id }) => id)].join(' '),
  );
  const keys = sold.flat().flatMap(({ key }) => key ?? []);
  return [
    ...(licenses === perOrder ? [] : [`an order of ${perOrder} licenses has ${licenses}`]),
    ...(new Set(heard).size === 1 ? [] : [`one order was answered ${[...new Set(heard)].join(' and ')}`]),
    // Fewer keys than licenses are acceptable, because an answer with keys can get lost.
    ...(keys.length <= perOrder ? [] : ['the keys of one order were shown twice']),
  ];
}

async function renewal(site: LicenseSite, way: Way): Promise<string[]> {
  const [one] = await site.issue('sold', 1);
  if (one === undefined) throw new Error('nothing was issued');
  const { id, key } = one;
  await site.activate(key, 'machine-of-ana-01');
  const endOf = async (): Promise<number> => {
    const { json } = await site.operate('licenses/get', { id });
    return Date.parse((json['license'] as { expiresAt: string }).expiresAt);
  };
  const before = await endOf();
  const extension = { id, for: `${extendedDays}d`, orderRef: randomUUID() };
  const extend = () => site.operate('licenses/extend', extension);
  const answers = await way(extend, 'select from licenses.licenses where id = $1 for no key update', [id]);
  const moved = ((await endOf()) - before) / (24 * hour);
  const refused = answers.filter(({ status }) => status !== 200).length;
  return moved === extendedDays && refused === 0
    ? []
    : [`one renewal of ${extendedDays} days moved an end by ${moved}, and ${refused} were refused`];
}

async function trial(site: LicenseSite, way: Way): Promise<string[]> {
  const machineId = `machine-${randomUUID()}`;
  const begin = () => site.post('/api/trials', { machineId });
  const count = () => countOf(site.owner, 'licenses.trials');
  const before = await count();
  const answers = await way(begin, 'lock table licenses.trials in share mode');
  const heard = new Set(answers.map(({ status, json }) => `${status} ${JSON.stringify(json['trial'])}`));
  const begun = (await count()) - before;
  const [one] = await site.issue('sold', 1);
  await site.activate(one?.key ?? '', machineId);
  const converted = (await begin()).status;
  return [
    ...(heard.size === 1 ? [] : [`one trial was answered ${[...heard].join(' and ')}`]),
    ...(begun === 1 ? [] : [`a machine has ${begun} trials`]),
    ...(converted === 403 ? [] : [`a trial went on after a key was activated: ${converted}`]),
  ];
}

type Kind = (site: LicenseSite, way: Way) => Promise<string[]>;
const kinds: readonly Kind[] = [sale, renewal, trial];

interface Extent {
  readonly kinds: readonly Kind[];
  readonly scenes: number;
  /** The number of rounds of each kind while the service and its connections break. */
  readonly rounds: number;
  readonly arrange?: (site: LicenseSite) => Promise<void>;
}

async function run(setting: RunSetup, extent: Extent, removals: readonly GuardRemoval[]): Promise<Findings> {
  const { kinds: tried, scenes, rounds, arrange } = extent;
  const dice = new Dice(setting.seed);
  const site = await openLicenseSite(setting.services, removals);
  await site.makePlan({ name: 'sold' });
  await site.owner.query('update licenses.products set trial_seconds = 86400');
  await arrange?.(site);
  const violations: string[] = [];
  const tryAll = async (times: number, way: Way): Promise<void> => {
    for (let nth = 0; nth < times; nth += 1)
      for (const kind of tried) violations.push(...(await kind(site, way)));
  };
  const many = (call: () => Promise<Answered>) => Array.from({ length: callers }, () => call);
  await tryAll(scenes, (call, held, values = []) => site.together(held, values, many(call)));
  if (rounds > 0)
    await site.whileBreaking(dice.another(), () =>
      tryAll(rounds, (call) => Promise.all(many(call).map((one) => one()))),
    );
  return site.report(violations, { scenes: scenes * tried.length, rounds: rounds * tried.length });
}

/**
 * Removes the `on conflict` clause, and also the unique constraint, which would otherwise refuse the second
 * trial with an error.
 */
const anyTrials = async ({ owner }: LicenseSite): Promise<void> => {
  const rule = 'on conflict (product, machine_hash) do nothing';
  await redefine(owner, { function: 'licenses.trial_of' }, [rule, '']);
  await owner.query('alter table licenses.trials drop constraint trials_product_machine_hash_key');
};

const once = { scenes: 1, rounds: 0 };

export const licenseOrders = property<Extent>({
  name: 'license orders',
  promise:
    'A sale, a renewal and a trial that are requested several times exist once, and every call that is answered gets the same answer.',
  short: { kinds, scenes: 1, rounds: 5 },
  long: { kinds, scenes: 30, rounds: 150 },
  run,
  controls: [
    {
      name: 'calls for one order do not wait for each other',
      leftTo: 'nx long',
      extent: { ...once, kinds: [sale] },
      without: [
        without('calls for one order wait', (guarded) =>
          guarded.replace('pg_advisory_xact_lock', 'int4larger'),
        ),
      ],
    },
    {
      name: 'operators do not lock the license',
      leftTo: 'the long form',
      extent: { ...once, kinds: [renewal] },
      without: [without('operators lock the license')],
    },
    {
      name: 'each call begins a trial of its own',
      leftTo: 'nx long',
      extent: { ...once, kinds: [trial], arrange: anyTrials },
    },
  ],
});
