/**
 * The cuts that shrink a story's context to its byte limit, ordered from the least needed part to the most
 * needed.
 */
import { type ContextSections, type OpenThread } from '@muster/contract';
import {
  jsonByteLength,
  type SectionCut,
  defineSectionCut,
  truncateText,
  dropItems,
  dropItemsAndMeasure,
  dropTexts,
} from './fit-bytes.ts';

/**
 * Creates a cut. The type parameter of this wrapper ties `shrink` to its section, so that the compiler checks
 * each cut below.
 */
const defineCut = <Name extends keyof ContextSections>(
  section: Name,
  shrink: (value: NonNullable<ContextSections[Name]>, excess: number) => ContextSections[Name],
): SectionCut<ContextSections> => defineSectionCut(section, shrink);

/** Removes items from the end. An empty list is returned unchanged. */
const dropItemsFromEnd = <Item>(items: Item[], excessBytes: number): Item[] =>
  items.length === 0 ? items : dropItems(items, excessBytes);

/** Removes the oldest threads. Each thread loses its replies first, then the thread itself goes. */
function dropOldestThreads(threads: OpenThread[], excessBytes: number): OpenThread[] {
  let freed = 0;
  for (const [index, thread] of threads.entries()) {
    if (freed >= excessBytes) return threads.slice(index);
    const { kept: replies, freedBytes } = dropItemsAndMeasure(thread.replies, excessBytes - freed, 'start');
    const cutThread = { ...thread, replies };
    freed += freedBytes;
    if (freed >= excessBytes) return [cutThread, ...threads.slice(index + 1)];
    freed += jsonByteLength(cutThread) + 1;
  }
  return threads.length === 0 ? threads : [];
}

function truncateField<Field extends string, Value extends { readonly [Key in Field]: string | null }>(
  value: Value,
  field: Field,
  excessBytes: number,
): Value {
  const text = value[field];
  return text === null || text === '' ? value : { ...value, [field]: truncateText(text, excessBytes) };
}

export const contextCuts: readonly SectionCut<ContextSections>[] = [
  defineCut('recentActivity', dropItemsFromEnd),
  defineCut('others', dropItemsFromEnd),
  defineCut('contracts', (contracts, excess) => dropTexts(contracts, 'content', excess)),
  defineCut('prompts', (prompts, excess) => dropTexts(prompts, 'body', excess)),
  defineCut('openThreads', dropOldestThreads),
  defineCut('rework', (rework, excess) =>
    rework.openThreads.length === 0
      ? rework
      : { ...rework, openThreads: dropOldestThreads(rework.openThreads, excess) },
  ),
  defineCut('prompts', dropItemsFromEnd),
  defineCut('contracts', dropItemsFromEnd),
  defineCut('epic', (epic, excess) => truncateField(epic, 'description', excess)),
  defineCut('story', (story, excess) => truncateField(story, 'description', excess)),
  defineCut('spec', (spec, excess) => truncateField(spec, 'content', excess)),
  // The cuts from here on shrink sections that are small on almost every board and are needed most.
  defineCut('touches', () => null),
  defineCut('locks', dropItemsFromEnd),
  defineCut('reviewers', dropItemsFromEnd),
  defineCut('collisions', dropItemsFromEnd),
  defineCut('epic', () => null),
  defineCut('policy', () => null),
  defineCut('deliveryGroup', () => null),
  defineCut('rework', () => null),
  defineCut('execution', () => null),
  defineCut('assignment', () => null),
  defineCut('readiness', (readiness, excess) =>
    readiness.openBlockers.length === 0
      ? readiness
      : { ...readiness, openBlockers: dropItemsFromEnd(readiness.openBlockers, excess) },
  ),
  defineCut('spec', () => null),
  defineCut('story', () => null),
];
