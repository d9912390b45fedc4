/**
 * Many clients read the stream of events while instances of the API restart one after the other. Others
 * write, partly in a project that the readers may not see.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { idIn, openApi } from '../callers.ts';
import { differencesIn } from '../differences.ts';
import { type GuardRemoval, removalsIn, without } from '../guards.ts';
import { during } from '../havoc.ts';
import { type Findings, property, type RunProperty, type RunSetup } from '../property.ts';
import { type Database } from '../services.ts';
import { comesToBe, tapInto } from '../site.ts';
import { sequenceSql } from './feeds.ts';
import { openReaders, type StreamReader } from './stream/readers.ts';
import { type Extent as TraceExtent, lookForTraces } from './stream/traces.ts';

interface ReadExtent {
  readonly copies: number;
  readonly members: number;
  readonly writers: number;
  readonly restarts: number;
  /** The minimum number of events that are written between two restarts. */
  readonly events: number;
}

/**
 * The two parts of a run: reading the stream, and searching for traces of hidden events. Either part may be
 * left out.
 */
interface Extent {
  readonly reading?: ReadExtent;
  readonly traces?: TraceExtent;
}

const short = {
  reading: { copies: 2, members: 6, writers: 6, restarts: 3, events: 40 },
  traces: { viewers: 6, visible: 20, hidden: 6 },
};
const long = {
  reading: { copies: 3, members: 50, writers: 12, restarts: 12, events: 300 },
  traces: { viewers: 20, visible: 50, hidden: 20 },
};

/** The number of streams that a member may have open at the same time. */
const streamsOfMember = 4;
const patienceMillis = 60_000;

async function readThroughRestarts(
  { services, note }: RunSetup,
  { copies: count, members, writers, restarts, events }: ReadExtent,
  removals: readonly GuardRemoval[],
): Promise<Findings> {
  const database = await services.database();
  const inSql = removalsIn('sql', removals);
  if (inSql.length > 0) await database.owner.query(sequenceSql);
  const { people, orgId, api, callers, start } = await openApi(services, {
    ...{ people: members + 1, removals, database },
    environment: { DATABASE_URL: await tapInto(services, database.url, inSql) },
  });
  const [owner, ...others] = people;
  const copies = [api];
  while (copies.length < count) copies.push(await start());
  const urlOf = (index: number): string => copies[index % copies.length]?.url ?? '';
  const call = (turn: number, token: string, operation: string, params: object) =>
    callers.call(urlOf(turn), token, operation, params);
  const make = async (params: object) =>
    idIn(await call(0, owner.token, 'projects.create', params), 'project');
  const seen = await make({ key: 'SEE', name: 'Seen' });
  const hidden = await make({ key: 'HID', name: 'Hidden', visibility: 'private' });
  const began = await standing(database, orgId);

  const tokens = others.flatMap(({ token }) => Array.from({ length: streamsOfMember }, () => token));
  const readers = openReaders(services, tokens, (index, tries) => urlOf(index + tries));
  await readers.begun();
  let written = 0;
  const write = (index: number, turn: number) => async (): Promise<void> => {
    const isHidden = turn % 2 === 0;
    const who = isHidden ? owner : others[index % others.length];
    const params = { projectId: isHidden ? hidden : seen, title: `Story ${turn}` };
    turn += 1;
    const { status } = await call(turn, who?.token ?? '', 'stories.create', params);
    // After any other status the write may still have happened, because the instance was restarting. The
    // database shows the result later.
    if (status === 200) written += 1;
    else await pause(20);
  };
  const writes = Array.from({ length: writers }, (_, index) => write(index, index));
  await during(writes, async () => {
    for (let done = 0; done < restarts; done += 1) {
      const before = written;
      while (written < before + events) await pause(20);
      const at = done % copies.length;
      const copy = copies[at];
      // Every third instance is killed, so that its readers get no notice.
      if (done % 3 === 2) copy?.kill();
      else await copy?.stop();
      await copy?.exited;
      copies[at] = await start();
      note(`${done + 1} of ${restarts} started anew, ${written} written`);
    }
  });
  const all = await activityOf(database, orgId, began, seen);
  const isThere = async (): Promise<boolean> =>
    readers.all.every((reader) => eventIdsOf(reader).length >= all.length);
  await comesToBe(isThere, inSql.length > 0 ? 3_000 : patienceMillis);
  await readers.close();
  return {
    violations: readers.all.flatMap((reader, index) =>
      problemsOf(reader, all).map((what) => `reader ${index}: ${what}`),
    ),
    figures: {
      ...{ readers: readers.all.length, copies: count, restarts, writers, events: all.length },
      'events received': readers.all.reduce((sum, reader) => sum + eventIdsOf(reader).length, 0),
      'connections of readers': readers.all.reduce((sum, { connections }) => sum + connections, 0),
    },
  };
}

const eventIdsOf = ({ blocks }: StreamReader): string[] => blocks.flatMap(({ eventId }) => eventId ?? []);

async function standing({ owner }: Database, orgId: string): Promise<number> {
  const { rows } = await owner.query<{ activity: number }>('select activity from streams where org_id = $1', [
    orgId,
  ]);
  return rows[0]?.activity ?? 0;
}

/** Returns the ids of the events that readers have to receive, in commit order. */
async function activityOf({ owner }: Database, orgId: string, after: number, projectId: string) {
  const { rows } = await owner.query<{ id: string }>(
    'select id from activity where org_id = $1 and seq > $2 and (project_id = $3 or project_id is null) order by seq',
    [orgId, after, projectId],
  );
  return rows.map(({ id }) => id);
}

function problemsOf(reader: StreamReader, all: readonly string[]): string[] {
  const ended = reader.blocks.filter(({ event }) => event === 'resync').length;
  return [
    ...differencesIn(eventIdsOf(reader), all),
    ...(ended > 0 ? [`was told ${ended} times that events are gone`] : []),
    ...reader.odd.map((what) => `was answered ${what}`),
  ];
}

const run: RunProperty<Extent> = async (setting, { reading, traces }, removals) => {
  const reports = [
    ...(reading === undefined ? [] : [await readThroughRestarts(setting, reading, removals)]),
    ...(traces === undefined ? [] : [await lookForTraces(setting.services, traces, removals)]),
  ];
  return {
    violations: reports.flatMap(({ violations }) => violations),
    figures: Object.assign({}, ...reports.map(({ figures }) => figures)) as Findings['figures'],
  };
};

/**
 * Takes event numbers from a sequence before the commit and sets the stream's position to the largest of
 * them. Some transactions sleep between the two, so that numbers become visible out of order.
 */
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

export const stream = property<Extent>({
  name: 'stream',
  promise:
    'Readers of the stream of events miss nothing and get nothing twice while copies of the API are restarted, and nothing reveals to them that there are more events than they may see.',
  short,
  long,
  run,
  controls: [
    {
      name: 'events are numbered before their place in the order of commits is taken',
      leftTo: 'nx long',
      extent: { reading: short.reading },
      without: [drawnEarly],
    },
    {
      name: 'ids are the numbers of events',
      leftTo: 'nx long',
      extent: { traces: short.traces },
      without: [
        without('a cursor is sealed', 'return String(seq);'),
        without('a cursor is opened', 'if (/^[0-9]+$/.test(cursor)) return Number(cursor);'),
      ],
    },
    {
      name: 'every event wakes all readers, and they are told the position of the stream',
      leftTo: 'nx long',
      extent: { traces: short.traces },
      without: [
        without('wakes only followers with access', 'for (const { looking } of behind) looking.wake();'),
        without('an id comes with events or after quiet', 'if (awaits !== undefined) {'),
      ],
    },
  ],
});
