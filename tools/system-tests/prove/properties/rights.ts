/**
 * Removes rights while calls continue. Services cache permissions, so the test calls two instances of the API
 * and the MCP gateway, with reads and writes, after their caches are filled. A call that starts after the
 * change is committed must be refused.
 */
import { newId, type Pool } from '@muster/driver';
import { startApp } from '../bundles.ts';
import { type Callers, type CallReply, idIn, inWords, isServed, openCallers } from '../callers.ts';
import { type TestSite, startTestSite } from '../house.ts';
import { type Control, type Property, type Findings, type RunSetup } from '../property.ts';
import { type Scope } from '../services.ts';
import { foundOrganization } from '../organization.ts';
import { about, type RightsChange, changes, givingOf, type RightsSubject } from './rights/changes.ts';

/** The number of calls of each kind at each process after the commit. */
const callsAfter = { short: 2, long: 40 } as const;

interface Place {
  readonly testSite: TestSite;
  /** The addresses of the API's two instances. */
  readonly apis: readonly [string, string];
}

/** Returns the services, which all runs share. The test of each change creates its own organization. */
const findPlace = (scope: Scope): Promise<Place> => scope.share('place', openPlace);

async function openPlace(home: Scope): Promise<Place> {
  const house = await startTestSite(home);
  const environment = { DATABASE_URL: house.database.url };
  const other = await startApp(home, 'coordination-api', { environment });
  return { testSite: house, apis: [house.api.url, other.url] };
}

/** One kind of call at one of the services. */
interface Kind {
  readonly name: string;
  readonly effect: 'read' | 'write';
  /** Makes the call and returns true if it succeeded. */
  readonly isDone: () => Promise<boolean>;
}

/**
 * Throws if no answer came. A call without an answer was neither done nor refused, and the loop would not
 * end.
 */
function answered(heard: CallReply): CallReply {
  if (heard.status === 0) throw new Error(`no answer came: ${inWords(heard)}`);
  return heard;
}

/** Returns true if a tool's result is no error. The HTTP status is 200 in both cases. */
const isToolDone = ({ status, body }: CallReply): boolean => {
  const result = body['result'] as { isError?: boolean } | undefined;
  return status === 200 && result !== undefined && result.isError !== true;
};

function kindsOf(
  { testSite: house, apis }: Place,
  callers: Callers,
  token: string,
  projectId: string,
): Kind[] {
  const calls = [
    { effect: 'read', operation: 'stories.list', params: { projectId } },
    { effect: 'write', operation: 'stories.create', params: { projectId, title: 'One more' } },
  ] as const;
  return calls.flatMap(({ effect, operation, params }) => [
    ...apis.map((url, index) => ({
      ...{ name: `${operation} at API ${index + 1}`, effect },
      isDone: async () => isServed(answered(await callers.call(url, token, operation, params))),
    })),
    {
      ...{ name: `${operation} as a tool`, effect },
      isDone: async () =>
        isToolDone(
          answered(await callers.tool(house.gateway.url, token, operation.replace('.', '_'), params)),
        ),
    },
  ]);
}

/**
 * Creates a member with a token. The member has the right that the change removes, and may read and write in
 * a project because of that right.
 */
async function arrange({ testSite: house, apis }: Place, callers: Callers, change: RightsChange) {
  const { owner } = house.database;
  const { orgId, people } = await foundOrganization(house.database, 3);
  const [lead, member, other] = people;
  if (member === undefined || other === undefined) throw new Error('nobody is there');
  const make = async (key: string): Promise<string> =>
    idIn(await callers.call(apis[0], lead.token, 'projects.create', { key, name: key }), 'project');
  const subject: RightsSubject = {
    ...{ org: orgId, member: member.memberId, other: other.memberId, team: newId() },
    ...{ project: await make('WEB'), elsewhere: await make('DOCS') },
  };
  for (const sql of givingOf(change)) await owner.query(about(sql, subject));
  return { subject, token: member.token };
}

/** The SQL states of a deadlock and of a lock timeout. */
const lostToOthers: readonly unknown[] = ['40P01', '55P03'];

/**
 * Runs a change. A change that loses a lock conflict with concurrent calls changes nothing and is retried.
 */
async function commit(owner: Pool, sql: string): Promise<void> {
  for (;;) {
    try {
      await owner.query(sql);
      return;
    } catch (error) {
      if (!lostToOthers.includes((error as { code?: string }).code)) throw error;
    }
  }
}

/**
 * Makes a change while calls continue. Returns the violations: calls that succeeded although they started
 * after the change was committed, and calls that were refused without reason.
 */
async function take(place: Place, callers: Callers, change: RightsChange, most: number): Promise<string[]> {
  const { subject, token } = await arrange(place, callers, change);
  const kinds = kindsOf(place, callers, token, subject.project);
  const isOver = ({ effect }: Kind): boolean => change.ends === 'all' || effect === 'write';
  // Every process has cached the permissions after these calls.
  for (const kind of [...kinds, ...kinds]) {
    if (!(await kind.isDone())) throw new Error(`${change.name}: ${kind.name} could not be done before`);
  }
  let isCommitted = false;
  let hasFailed = false;
  const violations: string[] = [];
  const going = kinds.map(async (kind) => {
    for (let after = 0; after < most && !hasFailed;) {
      const beganAfter = isCommitted;
      const isDone = await kind.isDone();
      if (!beganAfter) continue;
      after += 1;
      if (isDone && isOver(kind)) violations.push(`${change.name}: ${kind.name} was done after it`);
      if (!isDone && !isOver(kind)) violations.push(`${change.name}: ${kind.name} was refused after it`);
    }
  });
  try {
    await commit(place.testSite.database.owner, about(change.sql, subject));
    isCommitted = true;
  } catch (error) {
    hasFailed = true;
    throw error;
  } finally {
    await Promise.all(going);
  }
  return [...new Set(violations)];
}

async function takeAll(
  { services, note, scale }: RunSetup,
  tried: readonly RightsChange[],
  most: number = callsAfter[scale],
): Promise<Findings> {
  const place = await findPlace(services);
  const callers = openCallers(services);
  const violations: string[] = [];
  for (const change of tried) {
    violations.push(...(await take(place, callers, change, most)));
    note(change.name);
  }
  return {
    violations,
    figures: { 'kinds of change': tried.length, 'kinds of call': 6, 'calls of each after a change': most },
  };
}

/** Makes a control that disables one of the triggers while it runs. */
const without = ({ trigger, on }: RightsChange): Control => ({
  name: `without the trigger ${trigger}`,
  run: async (setting) => {
    const { owner } = (await findPlace(setting.services)).testSite.database;
    await owner.query(`alter table ${on} disable trigger ${trigger}`);
    try {
      const [first] = changes.filter((change) => change.trigger === trigger);
      return await takeAll(setting, first === undefined ? [] : [first], 1);
    } finally {
      await owner.query(`alter table ${on} enable trigger ${trigger}`);
    }
  },
});

/** One change for each trigger. */
const triggers = [...new Map(changes.map((change) => [change.trigger, change])).values()];

export const rights: Property = {
  name: 'rights',
  promise:
    'No call that begins after a right was taken away succeeds by that right: whatever change took it away, for reads, writes and tools, at any of several processes that all remember it.',
  run: (setting) => takeAll(setting, changes),
  controls: triggers.map(without),
};
