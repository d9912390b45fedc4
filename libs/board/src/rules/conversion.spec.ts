import { describe, expect, it } from '@jest/globals';
import { type ColumnStatus, storyStatuses } from '@muster/contract';
import fc from 'fast-check';
import { conversionIssues, placeStories } from './conversion.ts';

const columnStatuses = ['backlog', 'ready', 'in_progress', 'in_review', 'done'] as const;
const columnsOf = (statuses: readonly ColumnStatus[]) =>
  statuses.map((status, index) => ({ id: `c${index}`, status }));
const stories = fc.array(fc.record({ status: fc.constantFrom(...storyStatuses) }), { maxLength: 60 });
const extraColumns = fc.array(fc.constantFrom(...columnStatuses), { maxLength: 6 });

describe('a local board', () => {
  it('is refused with each field that keeps it from being brought in', () => {
    const issues = conversionIssues(
      {
        epics: [{ localId: 'a' }, { localId: 'b' }, { localId: 'a' }],
        stories: [
          { localId: 'a', status: 'ready', epicLocalId: 'b' },
          { localId: '__proto__', status: 'in_review', epicLocalId: '__proto__' },
          { localId: '__proto__', status: 'canceled' },
        ],
      },
      columnsOf(['backlog', 'ready', 'done']),
    );
    expect(issues).toEqual([
      { path: 'epics[2].localId', message: 'duplicates the localId of epics[0]' },
      { path: 'stories[2].localId', message: 'duplicates the localId of stories[1]' },
      { path: 'stories[1].epicLocalId', message: 'does not match the localId of any epic in this call' },
      { path: 'stories[1].status', message: 'is in_review, but the board has no column with that status' },
    ]);
  });

  it('is refused with parents that are missing, the story itself, or children', () => {
    const story = (localId: string, parentLocalId?: string) => ({
      localId,
      parentLocalId,
      status: 'done' as const,
    });
    const issues = conversionIssues(
      {
        epics: [],
        stories: [story('a'), story('b', 'a'), story('c', 'b'), story('d', 'x'), story('e', 'e')],
      },
      columnsOf(['done']),
    );
    expect(issues).toEqual([
      { path: 'stories[2].parentLocalId', message: 'must be another story that has no parent' },
      { path: 'stories[3].parentLocalId', message: 'does not match the localId of any story in this call' },
      { path: 'stories[4].parentLocalId', message: 'must be another story that has no parent' },
    ]);
  });

  it('is fine when every id is one of a kind and every status has a column', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string()),
        fc.uniqueArray(fc.string()),
        stories,
        (epicIds, storyIds, some) => {
          const board = {
            epics: epicIds.map((localId) => ({ localId })),
            stories: storyIds.map((localId, index) => ({
              localId,
              status: some[index]?.status ?? ('done' as const),
              epicLocalId: epicIds[index % Math.max(epicIds.length, 1)],
            })),
          };
          expect(conversionIssues(board, columnsOf(columnStatuses))).toEqual([]);
        },
      ),
    );
  });

  it('has each story in the first column of its status, in the order given; canceled ones in none', () => {
    fc.assert(
      fc.property(stories, extraColumns, (all, extra) => {
        const columns = columnsOf([...extra, ...columnStatuses]);
        const places = placeStories(all, columns);
        expect(places).toHaveLength(all.length);
        places.forEach(({ columnId }, index) => {
          expect(columnId).toBe(columns.find(({ status }) => status === all[index]?.status)?.id ?? null);
        });
        for (const lane of Map.groupBy(places, ({ columnId }) => columnId).values()) {
          const ranks = lane.map(({ rank }) => rank);
          expect(ranks).toEqual([...new Set(ranks)].sort());
        }
      }),
    );
  });
});
