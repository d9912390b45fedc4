import {
  type ContextSection,
  type ContextSections,
  contextSections,
  internalOperations,
} from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { type ContextScope, type SectionReader } from '../../data/context/scope.ts';
import { sectionReaders } from '../../data/context/sections.ts';
import { contextCuts } from '../../rules/context-cuts.ts';
import { fitSectionsToBytes } from '../../rules/fit-bytes.ts';

export const context = handle(boardRegistry.storyCollaboration.context, async (call) => {
  const { include = contextSections, maxBytes, storyId } = call.params;
  let asked: ReturnType<typeof call.policy> | undefined;
  let around: ReturnType<ContextScope['loadNearbyWork']> | undefined;
  let work: ReturnType<ContextScope['loadExecution']> | undefined;
  const scope: ContextScope = {
    db: call.db,
    caller: call.caller,
    storyId: call.targetId,
    storyRef: storyId,
    maxBytes,
    performOperation: call.perform,
    // Two sections need each of the following answers, so each of them is requested only once.
    loadPolicy: () => (asked ??= call.policy()),
    loadExecution: () =>
      (work ??= call
        .perform(deliveryRegistry.deliveryExecutions.getForTarget, { targetType: 'story', targetId: storyId })
        .then(({ execution }) => execution)),
    loadNearbyWork: () => (around ??= call.perform(internalOperations.workAround, { storyId })),
  };
  // All sections send their queries in the same tick, so all reads take one round trip.
  const read = await Promise.all(
    contextSections.map(async (name) =>
      include.includes(name) ? readSection(name, scope) : skipSection(name),
    ),
  );
  const short = read.flatMap(({ name, hasMore }) => (hasMore ? [name] : []));
  const { sections: fitted, truncated } = fitSectionsToBytes(
    toSectionsByName(read),
    short,
    contextCuts,
    maxBytes,
  );
  return { ...fitted, truncated };
});

interface NamedSection<Name extends ContextSection> {
  readonly name: Name;
  readonly value: ContextSections[Name];
  readonly hasMore: boolean;
}

async function readSection<Name extends ContextSection>(
  name: Name,
  scope: ContextScope,
): Promise<NamedSection<Name>> {
  const section: SectionReader<Name> = sectionReaders[name];
  return { name, ...(await section(scope)) };
}

const skipSection = <Name extends ContextSection>(name: Name) => ({ name, value: null, hasMore: false });

/** Returns the sections as an object, by name. The cast is safe because `read` contains every section. */
const toSectionsByName = (namedSections: readonly NamedSection<ContextSection>[]): ContextSections =>
  Object.fromEntries(namedSections.map(({ name, value }) => [name, value])) as ContextSections;
