/** Which of what was read an event makes old. */
import { type Event } from '@muster/registry';

export type Key = readonly (string | null)[];

export function staleBy({ kind, subject }: Event): Key[] {
  const [about = ''] = kind.split('.');
  const keys: Key[] = [['activity']];
  if (subject.type === 'story' && subject.key !== null) keys.push(['story', subject.key]);
  if (['project', 'access', 'team', 'member', 'org'].includes(about)) keys.push(['projects'], ['people']);
  if (['execution', 'run', 'lock', 'agent'].includes(about)) keys.push(['work']);
  if (about === 'reviewer' || about === 'review') keys.push(['reviews']);
  if (about === 'epic') keys.push(['epics']);
  return keys;
}
