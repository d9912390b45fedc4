/** Maps events to the query keys that they invalidate. */
import { type Event } from '@muster/contract';

/** The subjects of events after which the settings are refetched, because the settings pages show them. */
const settingsSubjects: ReadonlySet<string> = new Set([
  ...[
    'org',
    'policy',
    'member',
    'invitation',
    'team',
    'access',
    'seats',
    'budget',
    'agent',
    'webhook',
    'forge',
  ],
  ...['prompt', 'contract', 'column', 'columns', 'project', 'import'],
]);

/** The events that change what other stories show about a story: its title, status, parent or dependencies. */
const relatedStoryChanges: ReadonlySet<string> = new Set([
  ...['story.created', 'story.updated', 'story.statusChanged', 'story.reordered', 'story.deleted'],
  ...['story.restored'],
]);

/** The events that change the waves of a project. Checkpoints and progress of work are frequent, and do not. */
const changesWaves = (kind: Event['kind']): boolean =>
  relatedStoryChanges.has(kind) ||
  /^(?:execution\.(?!updated|checkpointed|observed)|import\.|epic\.)|^story\.unblocked$/.test(kind);

export type CacheKey = readonly (string | null)[];

/**
 * Returns true if the event ends a member's or agent's leases and assignments. No separate events are emitted
 * for each story.
 */
export const endsLeasesAndAssignments = ({ kind }: Pick<Event, 'kind'>): boolean =>
  ['member.removed', 'member.departed', 'agent.retired'].includes(kind);

export function staleQueryKeys({ kind, subject }: Event): CacheKey[] {
  const [about = ''] = kind.split('.');
  const keys: CacheKey[] = [['activity']];
  if (settingsSubjects.has(about)) keys.push(['settings']);
  if (about === 'org') keys.push(['org']);
  const storyKey = subject.type === 'story' ? subject.key : null;
  if (/^story\.(deleted|restored)$/.test(kind)) keys.push(['settings', 'deleted-stories']);
  if (storyKey !== null) keys.push(['story', storyKey]);
  if (relatedStoryChanges.has(kind)) keys.push(['related'], ['assigned']);
  else if (storyKey !== null) keys.push(['related', storyKey]);
  if (about === 'assignment') keys.push(['assigned']);
  if (changesWaves(kind)) keys.push(['plans']);
  if (['project', 'access', 'team', 'member', 'org'].includes(about)) keys.push(['projects'], ['people']);
  if (['execution', 'run', 'lock', 'agent', 'attachment', 'comment'].includes(about)) keys.push(['work']);
  if (about === 'reviewer' || about === 'review') keys.push(['reviews']);
  if (['epic', 'group', 'import'].includes(about)) keys.push(['epics']);
  if (kind === 'story.statusChanged') keys.push(['epics', 'progress']);
  if (endsLeasesAndAssignments({ kind })) keys.push(['story'], ['related'], ['work'], ['reviews']);
  return keys;
}
