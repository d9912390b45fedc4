/** The imports of a project: a form for a new one, and the list of earlier ones. */
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { type Import, type ImportOutcome } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { lazily } from '../components/lazily.ts';
import { Avatar, nameOf } from '../components/people.tsx';
import { notify } from '../components/notices.tsx';
import { Loading } from '../components/states.tsx';
import { Ask } from '../components/ask.tsx';
import { facts, Item, Listed, Section, useWrite } from '../settings/components.tsx';
import { importsQuery } from '../settings/queries.ts';
import { ago } from '../messages/index.ts';
import { i } from '../messages/imports.ts';
import { s } from '../messages/settings.ts';

/** Loaded on demand with the formats of trackers and the schemas of items, which only an import needs. */
const BringIn = lazily(async () => ({ default: (await import('./bring-in.tsx')).BringIn }));

const outcomes: readonly ImportOutcome[] = ['created', 'updated', 'unchanged', 'kept', 'refused'];
const tones = { open: 'wait', finished: 'good', reverted: 'none' } as const;

export const countsText = (counts: Readonly<Record<ImportOutcome, number>>): string =>
  facts(...outcomes.map((one) => counts[one] > 0 && `${counts[one].toLocaleString()} ${i.counts[one]}`));

function One({ one }: { readonly one: Import }) {
  const { imports } = useClient();
  const { run } = useWrite();
  const { id: importId, name, state, counts, begunBy, createdAt } = one;
  const undo = (): Promise<boolean> =>
    run(async () => {
      const { removed, kept } = await imports.undo({ importId });
      const keys = kept.map(({ key }) => key).join(', ');
      notify({
        ...{ tone: 'good', title: i.undone(removed) },
        ...(kept.length > 0 && { body: i.undoneKept(kept.length, keys) }),
      });
    });
  return (
    <Item
      lead={<Avatar name={begunBy.name} kind={begunBy.kind} />}
      title={name}
      fact={
        <>
          <span className="state" data-tone={tones[state]}>
            {i.states[state]}
          </span>
          <span>
            {facts(state === 'open' && i.openWhy, countsText(counts), nameOf(begunBy), ago(createdAt))}
          </span>
        </>
      }
    >
      {state !== 'reverted' && counts.created > 0 && (
        <Ask act={i.undo} about={name} title={i.undoTitle(name)} why={i.undoWhy} run={undo} />
      )}
    </Item>
  );
}

export function Imports({
  projectId,
  projectKey,
  mayWrite,
}: {
  readonly projectId: string;
  readonly projectKey: string;
  readonly mayWrite: boolean;
}) {
  const imports = useQuery(importsQuery(useClient(), projectId));
  // The key resets the form for another file.
  const [form, setForm] = useState(0);
  return (
    <>
      <Section id="import" title={s.sections.import} intro={mayWrite ? i.intro : i.archived}>
        {mayWrite && (
          <Suspense fallback={<Loading label={s.loading} rows={3} />}>
            <BringIn
              key={form}
              projectId={projectId}
              projectKey={projectKey}
              onOther={() => setForm(form + 1)}
            />
          </Suspense>
        )}
      </Section>
      <Section id="imports" title={i.list} intro={i.listIntro}>
        <Listed query={imports} empty={i.empty} emptyWhy={i.emptyWhy}>
          {(one) => <One key={one.id} one={one} />}
        </Listed>
      </Section>
    </>
  );
}
