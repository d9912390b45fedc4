/** Which of what was read an event makes old. */
import { type Event } from '@muster/registry';

/** What settings show. */
const settingsAbout: ReadonlySet<string> = new Set([
  ...['org', 'policy', 'member', 'invitation', 'team', 'access', 'seats', 'agent', 'webhook', 'forge'],
  ...['prompt', 'contract', 'column', 'columns', 'project', 'import'],
]);

export type Key = readonly (string | null)[];

/** What a member or an agent held and was assigned is over with them, and no event says so of each story by itself. */
export const endsHoldings = ({ kind }: Pick<Event, 'kind'>): boolean =>
  ['member.removed', 'member.departed', 'agent.retired'].includes(kind);

export function staleBy({ kind, subject }: Event): Key[] {
  const [about = ''] = kind.split('.');
  const keys: Key[] = [['activity']];
  if (settingsAbout.has(about)) keys.push(['settings']);
  if (about === 'org') keys.push(['org']);
  if (subject.type === 'story' && subject.key !== null) keys.push(['story', subject.key]);
  if (['project', 'access', 'team', 'member', 'org'].includes(about)) keys.push(['projects'], ['people']);
  if (['execution', 'run', 'lock', 'agent'].includes(about)) keys.push(['work']);
  if (about === 'reviewer' || about === 'review') keys.push(['reviews']);
  if (['epic', 'group', 'import'].includes(about) || kind === 'story.statusChanged') keys.push(['epics']);
  if (endsHoldings({ kind })) keys.push(['story'], ['work'], ['reviews']);
  return keys;
}
