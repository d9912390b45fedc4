import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ParentCandidate, planParents } from './import-parents.ts';

const ids = ['a', 'b', 'c', 'd'] as const;
const id = fc.constantFrom(...ids);

it('never nests stories more than one level deep, and keeps parents that were set in Muster', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.record({ storyId: id, parentId: fc.option(id), isUnchanged: fc.boolean() }), {
        selector: ({ storyId }) => storyId,
      }),
      fc.uniqueArray(id, { minLength: 0, maxLength: 2 }),
      id,
      (named, children, root) => {
        const current = new Map<string, string>(
          children.filter((child) => child !== root).map((child) => [child, root] as const),
        );
        const candidates = named.map(({ storyId, parentId, isUnchanged }): ParentCandidate => ({
          ...{ externalId: storyId, parent: parentId ?? 'x', storyId, parentId, isUnchanged },
          currentParentId: current.get(storyId) ?? null,
          parentOfParent: (parentId !== null && current.get(parentId)) || null,
          hasChildren: [...current.values()].includes(storyId),
        }));
        const { added, skipped } = planParents(candidates);
        const parents = new Map<string, string>([
          ...current,
          ...added.map((one) => [one.storyId, one.parentId] as const),
        ]);
        for (const [storyId, parentId] of parents) {
          expect(parentId).not.toBe(storyId);
          expect(parents.has(parentId)).toBe(false);
        }
        for (const { storyId } of added)
          expect(
            current.has(storyId) && !candidates.find((one) => one.storyId === storyId)?.isUnchanged,
          ).toBe(false);
        const settled = [
          ...added.map(({ storyId }) => storyId),
          ...skipped.map(({ externalId }) => externalId),
        ];
        const same = candidates.filter(
          ({ parentId, currentParentId }) => parentId !== null && parentId === currentParentId,
        );
        expect(settled.length + same.length).toBe(candidates.length);
      },
    ),
  );
});
