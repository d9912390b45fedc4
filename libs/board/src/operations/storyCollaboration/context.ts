import {
  type ContextSection,
  type ContextSections,
  contextSections,
  inside,
  registry,
} from '@muster/registry';
import { handle } from '@muster/runtime';
import { type ContextScope, type Section } from '../../data/context/scope.ts';
import { sections } from '../../data/context/sections.ts';
import { contextCuts } from '../../rules/context-cuts.ts';
import { fitBytes } from '../../rules/fit-bytes.ts';

export const context = handle(registry.storyCollaboration.context, async (call) => {
  const { include = contextSections, maxBytes, storyId } = call.params;
  let asked: ReturnType<typeof call.policy> | undefined;
  let around: ReturnType<ContextScope['workAround']> | undefined;
  let work: ReturnType<ContextScope['execution']> | undefined;
  const scope: ContextScope = {
    db: call.db,
    caller: call.caller,
    storyId: call.targetId,
    storyRef: storyId,
    maxBytes,
    perform: call.perform,
    // Two sections need each of the following answers, so each of them is requested only once.
    policy: () => (asked ??= call.policy()),
    execution: () =>
      (work ??= call
        .perform(registry.deliveryExecutions.getForTarget, { targetType: 'story', targetId: storyId })
        .then(({ execution }) => execution)),
    workAround: () => (around ??= call.perform(inside.workAround, { storyId })),
  };
  // All sections send their queries in the same tick, so all reads take one round trip.
  const read = await Promise.all(
    contextSections.map(async (name) => (include.includes(name) ? readSection(name, scope) : leftOut(name))),
  );
  const short = read.flatMap(({ name, more }) => (more ? [name] : []));
  const { sections: fitted, truncated } = fitBytes(byName(read), short, contextCuts, maxBytes);
  return { ...fitted, truncated };
});

interface NamedRead<Name extends ContextSection> {
  readonly name: Name;
  readonly value: ContextSections[Name];
  readonly more: boolean;
}

async function readSection<Name extends ContextSection>(
  name: Name,
  scope: ContextScope,
): Promise<NamedRead<Name>> {
  const section: Section<Name> = sections[name];
  return { name, ...(await section(scope)) };
}

const leftOut = <Name extends ContextSection>(name: Name) => ({ name, value: null, more: false });

/** Returns the sections as an object, by name. The cast is safe because `read` contains every section. */
const byName = (read: readonly NamedRead<ContextSection>[]): ContextSections =>
  Object.fromEntries(read.map(({ name, value }) => [name, value])) as ContextSections;
