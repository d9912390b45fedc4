/**
 * Many read the stream of events while copies of the API are started anew one after the other and others write, partly
 * where the readers may not look.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { startThrowAwayApi } from '../../dev/throw-away-api.ts';
import { type ThrowAwayApp } from '../../dev/throw-away-app.ts';
import { type Alteration, findBundle } from '../bundles.ts';
import { idIn, openCallers } from '../callers.ts';
import { type Removal, without } from '../guards.ts';
import { type Property, type Report, type Scale, type Setting } from '../property.ts';
import { type Database } from '../services.ts';
import { comesToBe, foundOrganization } from '../site.ts';
import { requireMet, startTap } from '../tap.ts';
import { sequenceSql } from './feeds.ts';
import { openReaders, type Reader } from './stream/readers.ts';
import { type Extent as TraceExtent, lookForTraces } from './stream/traces.ts';

interface Extent {
  readonly copies: number;
  readonly members: number;
  readonly writers: number;
  readonly restarts: number;
  /** Events that are written between two restarts, at least. */
  readonly events: number;
  readonly traces: TraceExtent;
}

const extents: Readonly<Record<Scale, Extent>> = {
  short: {
    ...{ copies: 2, members: 6, writers: 6, restarts: 3, events: 40 },
    traces: { viewers: 6, visible: 20, hidden: 6 },
  },
  long: {
    ...{ copies: 3, members: 50, writers: 12, restarts: 12, events: 300 },
    traces: { viewers: 20, visible: 50, hidden: 20 },
  },
};

/** As many as a member has at once. */
const streamsOfMember = 4;
const patienceMillis = 60_000;

interface Without {
  readonly alterations?: readonly Alteration[];
  readonly removals?: readonly Removal[];
}

async function readThroughRestarts(
  { services, note }: Setting,
  { copies: count, members, writers, restarts, events }: Extent,
  { alterations = [], removals = [] }: Without = {},
): Promise<Report> {
  const database = await services.database();
  const { orgId, people } = await foundOrganization(database, members + 1);
  const [owner, ...others] = people;
  const main = await findBundle(services, 'coordination-api', alterations);
  if (removals.length > 0) await database.owner.query(sequenceSql);
  const tap = removals.length > 0 ? await startTap(database.url, removals) : undefined;
  services.onStop(() => tap?.stop());
  const callers = openCallers(services);
  const start = async (): Promise<ThrowAwayApp> => {
    const api = await startThrowAwayApi({ main, databaseUrl: tap?.url ?? database.url, log: 'warn' });
    services.onStop(() => api.stop());
    return api;
  };
  const copies = await Promise.all(Array.from({ length: count }, start));
  const urlOf = (index: number): string => copies[index % copies.length]?.url ?? '';
  const call = (turn: number, token: string, operation: string, params: object) =>
    callers.call(urlOf(turn), token, operation, params);
  const make = async (params: object) =>
    idIn(await call(0, owner?.token ?? '', 'projects.create', params), 'project');
  const seen = await make({ key: 'SEE', name: 'Seen' });
  const hidden = await make({ key: 'HID', name: 'Hidden', visibility: 'private' });
  const began = await standing(database, orgId);

  const tokens = others.flatMap(({ token }) => Array.from({ length: streamsOfMember }, () => token));
  const readers = openReaders(services, tokens, (index, tries) => urlOf(index + tries));
  await readers.begun();
  let isOver = false;
  let written = 0;
  const write = async (index: number): Promise<void> => {
    for (let turn = index; !isOver; turn += 1) {
      const isHidden = turn % 2 === 0;
      const who = isHidden ? owner : others[index % others.length];
      const params = { projectId: isHidden ? hidden : seen, title: `Story ${turn}` };
      const { status } = await call(turn, who?.token ?? '', 'stories.create', params);
      // A copy that is away: what it did all the same is in the database.
      if (status === 200) written += 1;
      else await pause(20);
    }
  };
  const writing = Promise.all(Array.from({ length: writers }, (_, index) => write(index)));
  writing.catch(() => undefined);
  try {
    for (let done = 0; done < restarts; done += 1) {
      const before = written;
      while (written < before + events) await pause(20);
      const at = done % copies.length;
      const copy = copies[at];
      // Every third is killed, which tells its readers nothing.
      if (done % 3 === 2) copy?.kill();
      else await copy?.stop();
      await copy?.exited;
      copies[at] = await start();
      note(`${done + 1} of ${restarts} started anew, ${written} written`);
    }
  } finally {
    isOver = true;
    await writing;
  }
  const all = await activityOf(database, orgId, began, seen);
  const isThere = async (): Promise<boolean> =>
    readers.all.every((reader) => eventIdsOf(reader).length >= all.length);
  await comesToBe(isThere, removals.length > 0 ? 3_000 : patienceMillis);
  await readers.close();
  if (tap !== undefined) requireMet(tap);
  return {
    violations: readers.all.flatMap((reader, index) =>
      wrongWith(reader, all).map((what) => `reader ${index} ${what}`),
    ),
    figures: {
      ...{ readers: readers.all.length, copies: count, restarts, writers, events: all.length },
      'events received': readers.all.reduce((sum, reader) => sum + eventIdsOf(reader).length, 0),
      'connections of readers': readers.all.reduce((sum, { connections }) => sum + connections, 0),
    },
  };
}

const eventIdsOf = ({ blocks }: Reader): string[] => blocks.flatMap(({ eventId }) => eventId ?? []);

async function standing({ owner }: Database, orgId: string): Promise<number> {
  const { rows } = await owner.query<{ activity: number }>('select activity from streams where org_id = $1', [
    orgId,
  ]);
  return rows[0]?.activity ?? 0;
}

/** What readers have to get: the ids, in commit order. */
async function activityOf({ owner }: Database, orgId: string, after: number, projectId: string) {
  const { rows } = await owner.query<{ id: string }>(
    'select id from activity where org_id = $1 and seq > $2 and (project_id = $3 or project_id is null) order by seq',
    [orgId, after, projectId],
  );
  return rows.map(({ id }) => id);
}

function wrongWith(reader: Reader, all: readonly string[]): string[] {
  const got = eventIdsOf(reader);
  const [placeOf, distinct] = [new Map(all.map((id, place) => [id, place])), new Set(got)];
  const missed = all.filter((id) => !distinct.has(id)).length;
  const strange = got.filter((id) => !placeOf.has(id)).length;
  const places = got.flatMap((id) => placeOf.get(id) ?? []);
  const early = places.filter((place, index) => place < (places[index - 1] ?? 0)).length;
  const ended = reader.blocks.filter(({ event }) => event === 'resync').length;
  return [
    ...(missed > 0 ? [`missed ${missed} of ${all.length} events`] : []),
    ...(got.length > distinct.size ? [`got ${got.length - distinct.size} events more than once`] : []),
    ...(strange > 0 ? [`got ${strange} events that it may not see`] : []),
    ...(early > 0 ? [`got ${early} events behind later ones`] : []),
    ...(ended > 0 ? [`was told ${ended} times that events are gone`] : []),
    ...reader.odd.map((what) => `was answered ${what}`),
  ];
}

async function hideWell(
  { services }: Setting,
  extent: TraceExtent,
  alterations: readonly Alteration[] = [],
): Promise<Report> {
  const database = await services.database();
  const main = await findBundle(services, 'coordination-api', alterations);
  const api = await startThrowAwayApi({ main, databaseUrl: database.url, log: 'warn' });
  services.onStop(() => api.stop());
  const { violations, ids, hidden } = await lookForTraces(
    ...([services, database, api.url, openCallers(services), extent] as const),
  );
  return { violations, figures: { 'ids compared': ids, 'hidden events': hidden } };
}

async function run(setting: Setting): Promise<Report> {
  const extent = extents[setting.scale];
  const read = await readThroughRestarts(setting, extent);
  const traces = await hideWell(setting, extent.traces);
  return {
    violations: [...read.violations, ...traces.violations],
    figures: { ...read.figures, ...traces.figures },
  };
}

/** The stream stands where the last to commit said; some who drew a number before it take their time. */
const drawnEarly = without('numbers follow the order of commits', (update) => {
  const [, events, condition] = /activity = activity \+ (\$\d+) where (.*) returning/s.exec(update) ?? [];
  if (events === undefined || condition === undefined)
    throw new Error('the number of events is counted otherwise');
  return `update streams set audit = greatest(streams.audit, drawn.audit), activity = greatest(streams.activity, drawn.activity)
    from (select given.audit, given.activity
      from (select nextval('app.prove_numbers') as audit, nextval('app.prove_numbers') + 0 * ${events}::bigint as activity offset 0) given,
        lateral pg_sleep(case when given.activity / 2 % 3 = 0 then 0.05 else 0 end) offset 0) drawn
    where ${condition} returning drawn.audit, drawn.activity`;
});

const rawNumbers: readonly Alteration[] = [
  without('a cursor is sealed', 'return String(seq);'),
  without('a cursor is opened', 'if (/^[0-9]+$/.test(cursor)) return Number(cursor);'),
];
const toldOfEachLook: readonly Alteration[] = [
  without('who may see it is woken', 'for (const { looking } of behind) looking.wake();'),
  without('an id comes with events or after quiet', 'if (awaits !== undefined) {'),
];

export const stream: Property = {
  name: 'stream',
  promise:
    'Readers of the stream of events miss nothing and get nothing twice while copies of the API are restarted, and nothing reveals to them that there are more events than they may see.',
  run,
  controls: [
    {
      name: 'events are numbered before their place in the order of commits is taken',
      leftTo: 'nx long',
      run: (setting) => readThroughRestarts(setting, extents.short, { removals: [drawnEarly] }),
    },
    {
      name: 'ids are the numbers of events',
      leftTo: 'nx long',
      run: (setting) => hideWell(setting, extents.short.traces, rawNumbers),
    },
    {
      name: 'every event wakes all readers, and they are told the position of the stream',
      leftTo: 'nx long',
      run: (setting) => hideWell(setting, extents.short.traces, toldOfEachLook),
    },
  ],
};
