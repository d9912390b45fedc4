/**
 * Checks that viewers cannot infer hidden events from the data that they receive. Two organizations have
 * equal visible events, but in one of them many hidden events happen as well.
 */
import { idIn, openApi } from '../../callers.ts';
import { type GuardRemoval } from '../../guards.ts';
import { type Findings } from '../../property.ts';
import { type Scope } from '../../services.ts';
import { comesToBe } from '../../site.ts';
import { openReaders, type StreamReader } from './readers.ts';

export interface Extent {
  readonly viewers: number;
  readonly visible: number;
  /** The number of hidden events per visible event. */
  readonly hidden: number;
}

/**
 * Tolerances for the randomness of the ids. They are larger than the deviation that a few hundred ids have by
 * chance.
 */
const mostFromHalf = 0.2;
const mostFromMiddle = 30;
const byteMean = 127.5;
const patienceMillis = 30_000;

export async function lookForTraces(
  scope: Scope,
  extent: Extent,
  removals: readonly GuardRemoval[],
): Promise<Findings> {
  const calm = await watchOne(scope, { ...extent, hidden: 0 }, removals);
  const busy = await watchOne(scope, extent, removals);
  return {
    violations: differences(calm, busy),
    figures: {
      'ids compared': [...calm, ...busy].flatMap(idsOf).length,
      'hidden events': extent.visible * extent.hidden,
    },
  };
}

async function watchOne(
  scope: Scope,
  { viewers, visible, hidden }: Extent,
  removals: readonly GuardRemoval[],
): Promise<readonly StreamReader[]> {
  const { people, api, as } = await openApi(scope, { people: viewers + 1, removals });
  const [owner, ...others] = people;
  const call = as(owner.token);
  const seen = idIn(await call('projects.create', { key: 'SEE', name: 'Seen' }), 'project');
  const behind = { key: 'HID', name: 'Hidden', visibility: 'private' };
  const unseen = idIn(await call('projects.create', behind), 'project');
  const readers = openReaders(
    scope,
    others.map(({ token }) => token),
    () => api.url,
  );
  await readers.begun();
  for (let made = 0; made < visible; made += 1) {
    for (let more = 0; more < hidden; more += 1)
      idIn(await call('stories.create', { projectId: unseen, title: 'Hidden' }), 'story');
    idIn(await call('stories.create', { projectId: seen, title: 'Seen' }), 'story');
  }
  const isThere = async (): Promise<boolean> => readers.all.every((reader) => eventsOf(reader) >= visible);
  await comesToBe(isThere, patienceMillis);
  await readers.close();
  return readers.all;
}

const idsOf = ({ blocks }: StreamReader): string[] => blocks.flatMap(({ id }) => id ?? []);
const eventsOf = ({ blocks }: StreamReader): number =>
  blocks.filter(({ eventId }) => eventId !== null).length;

/**
 * Describes each difference between the two organizations, and each property of the ids that is not random.
 */
function differences(calm: readonly StreamReader[], busy: readonly StreamReader[]): string[] {
  const violations: string[] = [];
  const alike = (what: string, of: (reader: StreamReader) => number): void => {
    const [one, other] = [calm, busy].map((readers) => [...new Set(readers.map(of))].sort().join(', '));
    if (one !== other || one?.includes(','))
      violations.push(
        `viewers got ${what}: ${one ?? ''} where nothing was hidden, ${other ?? ''} where much was`,
      );
  };
  alike('events', eventsOf);
  alike('blocks', ({ blocks }) => blocks.length);
  alike('bytes', ({ blocks }) => blocks.reduce((sum, { bytes }) => sum + bytes, 0));
  for (const [name, readers] of Object.entries({ calm, busy })) {
    const ids = readers.flatMap(idsOf);
    const lengths = new Set(ids.map(({ length }) => length));
    if (lengths.size !== 1) violations.push(`${name}: ids of ${[...lengths].join(', ')} characters`);
    const doubled = ids.length - new Set(ids).size;
    if (doubled > 0) violations.push(`${name}: ${doubled} ids look like others`);
    const pairs = readers.flatMap((reader) =>
      idsOf(reader).flatMap((id, index, all) => (index === 0 ? [] : [id > (all[index - 1] ?? '')])),
    );
    const rising = pairs.filter(Boolean).length / pairs.length;
    if (Math.abs(rising - 0.5) > mostFromHalf)
      violations.push(`${name}: ${Math.round(rising * 100)} % of ids sort behind the one before`);
    const bytes = ids.map((id) => Buffer.from(id, 'base64url')[0] ?? 0);
    const middle = bytes.reduce((sum, byte) => sum + byte, 0) / bytes.length;
    if (Math.abs(middle - byteMean) > mostFromMiddle)
      violations.push(`${name}: ids begin with ${middle.toFixed(1)} on average`);
  }
  return violations;
}
