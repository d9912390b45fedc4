/**
 * Shops send one sale several times at once, and one renewal, and whether they are answered or not; machines begin one trial from
 * several calls. Each is there once, and whoever is answered hears the same.
 */
import { randomUUID } from 'node:crypto';
import { Dice } from '../../dev/dice.ts';
import { type Removal, without } from '../guards.ts';
import { type Answered, type LicenseSite, openLicenseSite, redefine } from '../license-site.ts';
import { type Property, type Report, type Scale, type Setting } from '../property.ts';

interface Extent {
  readonly scenes: number;
  /** Sales, renewals and trials while things break. */
  readonly rounds: number;
}

const extents: Readonly<Record<Scale, Extent>> = {
  short: { scenes: 1, rounds: 5 },
  long: { scenes: 30, rounds: 150 },
};

const callers = 3;
const perOrder = 2;
const extendedDays = 30;
const hour = 3_600_000;

const many = <One>(make: () => One): One[] => Array.from({ length: callers }, make);

type Work = () => Promise<Answered>;
/** How several calls are made: so that they meet for certain, or just at once. */
type Way = (works: readonly Work[], held: string, values: readonly unknown[]) => Promise<Answered[]>;

async function sale(site: LicenseSite, way: Way): Promise<string[]> {
  const orderRef = randomUUID();
  const order = { plan: 'sold', orderRef, count: perOrder };
  const answers = await way(
    many(() => () => site.operate('licenses/issue', order)),
    'lock table licenses.licenses in share mode',
    [],
  );
  const { rows } = await site.owner.query('select from licenses.licenses where order_ref = $1', [orderRef]);
  const heard = answers.map(({ status, json }) =>
    [status, ...((json['licenses'] ?? []) as { id: string }[]).map(({ id }) => id)].join(' '),
  );
  const keys = answers.flatMap(({ json }) =>
    ((json['licenses'] ?? []) as { key: string | null }[]).flatMap(({ key }) => key ?? []),
  );
  return [
    ...(rows.length === perOrder ? [] : [`an order of ${perOrder} licenses has ${rows.length}`]),
    ...(new Set(heard).size === 1 ? [] : [`one order was answered ${[...new Set(heard)].join(' and ')}`]),
    // Where the answer was lost nobody may have heard them.
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
  const answers = await way(
    many(() => () => site.operate('licenses/extend', extension)),
    'select from licenses.licenses where id = $1 for no key update',
    [id],
  );
  const moved = ((await endOf()) - before) / (24 * hour);
  const refused = answers.filter(({ status }) => status !== 200).length;
  return moved === extendedDays && refused === 0
    ? []
    : [`one renewal of ${extendedDays} days moved an end by ${moved}, and ${refused} were refused`];
}

async function trial(site: LicenseSite, way: Way): Promise<string[]> {
  const machineId = `machine-${randomUUID()}`;
  const begin = () => site.post('/api/trials', { machineId });
  const count = async (): Promise<number> =>
    (await site.owner.query('select from licenses.trials')).rows.length;
  const before = await count();
  const answers = await way(
    many(() => begin),
    'lock table licenses.trials in share mode',
    [],
  );
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

const kinds = { sale, renewal, trial };
type Kind = keyof typeof kinds;

interface Without {
  readonly removals?: readonly Removal[];
  readonly alter?: (site: LicenseSite) => Promise<void>;
  readonly only?: Kind;
}

async function run(setting: Setting, extent: Extent, { removals, alter, only }: Without): Promise<Report> {
  const dice = new Dice(setting.seed);
  const site = await openLicenseSite(setting.services, removals);
  await site.makePlan({ name: 'sold' });
  await site.owner.query('update licenses.products set trial_seconds = 86400');
  await alter?.(site);
  const tried: readonly Kind[] = only === undefined ? ['sale', 'renewal', 'trial'] : [only];
  const violations: string[] = [];
  const meeting: Way = (works, held, values) => site.together(held, values, works);
  for (let nth = 0; nth < extent.scenes; nth += 1) {
    for (const kind of tried) violations.push(...(await kinds[kind](site, meeting)));
  }
  if (extent.rounds > 0) {
    const breaking = site.breakThings(dice.another());
    const atOnce: Way = (works) => Promise.all(works.map((work) => work()));
    try {
      for (let nth = 0; nth < extent.rounds; nth += 1) {
        for (const kind of tried) violations.push(...(await kinds[kind](site, atOnce)));
      }
    } finally {
      await breaking.end();
      await site.service.startAgain();
    }
  }
  site.requireMet();
  const { connections, kills } = site.broken();
  return {
    violations: [...violations, ...site.strange],
    figures: {
      ...{ scenes: extent.scenes * tried.length, rounds: extent.rounds * tried.length },
      ...{ 'service kills': kills, 'broken connections': connections },
    },
  };
}

const neverWaiting = without('calls for one order wait', 'hashtext($1)');
const unlocked = without('operators lock the license');
const alone = { scenes: 1, rounds: 0 };

/** Without the rule of the table too: it would turn the second one away in another way. */
const anyTrials = async ({ owner }: LicenseSite): Promise<void> => {
  await redefine(owner, { function: 'licenses.trial_of' }, [
    'on conflict (product, machine_hash) do nothing',
    '',
  ]);
  await owner.query('alter table licenses.trials drop constraint trials_product_machine_hash_key');
};

export const licenseOrders: Property = {
  name: 'license orders',
  promise:
    'A sale, a renewal and a trial that are requested several times exist once, and every call that is answered gets the same answer.',
  run: (setting) => run(setting, extents[setting.scale], {}),
  controls: [
    {
      name: 'calls for one order do not wait for each other',
      run: (setting) =>
        run(setting, alone, {
          removals: [neverWaiting],
          only: 'sale',
        }),
    },
    {
      name: 'operators do not lock the license',
      leftTo: 'the long form',
      run: (setting) => run(setting, alone, { removals: [unlocked], only: 'renewal' }),
    },
    {
      name: 'each call begins a trial of its own',
      run: (setting) => run(setting, alone, { alter: anyTrials, only: 'trial' }),
    },
  ],
};
