/**
 * The cuts that shrink a story's context to its byte limit, ordered from the least needed part to the most
 * needed.
 */
import { type ContextSections, type OpenThread } from '@muster/registry';
import { bytesOf, type SectionCut, cut, withoutEnd, withoutItems, withoutTexts } from './fit-bytes.ts';

/**
 * Creates a cut. The type parameter of this wrapper ties `shrink` to its section, so that the compiler checks
 * each cut below.
 */
const of = <Name extends keyof ContextSections>(
  section: Name,
  shrink: (value: NonNullable<ContextSections[Name]>, excess: number) => ContextSections[Name],
): SectionCut<ContextSections> => cut(section, shrink);

/** Removes items from the end. An empty list is returned unchanged. */
const shorter = <Item>(items: Item[], excess: number): Item[] =>
  items.length === 0 ? items : withoutItems(items, excess);

/** Removes the oldest threads. Each thread loses its replies first, then the thread itself goes. */
function withoutOldest(threads: OpenThread[], excess: number): OpenThread[] {
  let freed = 0;
  for (const [index, thread] of threads.entries()) {
    if (freed >= excess) return threads.slice(index);
    const replies = withoutItems(thread.replies, excess - freed, 'start');
    const cutThread = { ...thread, replies };
    freed += bytesOf(thread) - bytesOf(cutThread);
    if (freed >= excess) return [cutThread, ...threads.slice(index + 1)];
    freed += bytesOf(cutThread) + 1;
  }
  return threads.length === 0 ? threads : [];
}

function withoutEndOf<Field extends string, Value extends { readonly [Key in Field]: string | null }>(
  value: Value,
  field: Field,
  excess: number,
): Value {
  const text = value[field];
  return text === null || text === '' ? value : { ...value, [field]: withoutEnd(text, excess) };
}

export const contextCuts: readonly SectionCut<ContextSections>[] = [
  of('recentActivity', shorter),
  of('others', shorter),
  of('contracts', (contracts, excess) => withoutTexts(contracts, 'content', excess)),
  of('prompts', (prompts, excess) => withoutTexts(prompts, 'body', excess)),
  of('openThreads', withoutOldest),
  of('rework', (rework, excess) =>
    rework.openThreads.length === 0
      ? rework
      : { ...rework, openThreads: withoutOldest(rework.openThreads, excess) },
  ),
  of('prompts', shorter),
  of('contracts', shorter),
  of('epic', (epic, excess) => withoutEndOf(epic, 'description', excess)),
  of('story', (story, excess) => withoutEndOf(story, 'description', excess)),
  of('spec', (spec, excess) => withoutEndOf(spec, 'content', excess)),
  // The cuts from here on shrink sections that are small on almost every board and are needed most.
  of('locks', shorter),
  of('reviewers', shorter),
  of('collisions', shorter),
  of('epic', () => null),
  of('policy', () => null),
  of('deliveryGroup', () => null),
  of('rework', () => null),
  of('execution', () => null),
  of('assignment', () => null),
  of('readiness', (readiness, excess) =>
    readiness.openBlockers.length === 0
      ? readiness
      : { ...readiness, openBlockers: shorter(readiness.openBlockers, excess) },
  ),
  of('spec', () => null),
  of('story', () => null),
];
