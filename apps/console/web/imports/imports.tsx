/** The imports of a project: a form for a new one, and the list of earlier ones. */
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { type Import, type ImportOutcome } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { lazyComponent } from '../components/lazily.ts';
import { Avatar, nameOf } from '../components/people.tsx';
import { notify } from '../components/notices.tsx';
import { Loading } from '../components/states.tsx';
import { ConfirmButton } from '../components/ask.tsx';
import { joinFacts, ListItem, QueryList, Section, useSettingsWrite } from '../settings/components.tsx';
import { importsQuery } from '../settings/queries.ts';
import { timeAgo } from '../messages/index.ts';
import { importTexts } from '../messages/imports.ts';
import { texts } from '../messages/settings.ts';

/** Loaded on demand with the formats of trackers and the schemas of items, which only an import needs. */
const BringIn = lazyComponent(async () => ({ default: (await import('./bring-in.tsx')).BringIn }));

const importOutcomes: readonly ImportOutcome[] = ['created', 'updated', 'unchanged', 'kept', 'refused'];
const tones = { open: 'wait', finished: 'good', reverted: 'none' } as const;

export const countsText = (counts: Readonly<Record<ImportOutcome, number>>): string =>
  joinFacts(
    ...importOutcomes.map(
      (one) => counts[one] > 0 && `${counts[one].toLocaleString()} ${importTexts.counts[one]}`,
    ),
  );

function ImportRow({ one }: { readonly one: Import }) {
  const { imports } = useClient();
  const { run } = useSettingsWrite();
  const { id: importId, name, state, counts, begunBy, createdAt } = one;
  const undo = (): Promise<boolean> =>
    run(async () => {
      const { removed, kept } = await imports.undo({ importId });
      const keys = kept.map(({ key }) => key).join(', ');
      notify({
        ...{ tone: 'good', title: importTexts.undone(removed) },
        ...(kept.length > 0 && { body: importTexts.undoneKept(kept.length, keys) }),
      });
    });
  return (
    <ListItem
      lead={<Avatar name={begunBy.name} kind={begunBy.kind} />}
      title={name}
      fact={
        <>
          <span className="state" data-tone={tones[state]}>
            {importTexts.states[state]}
          </span>
          <span>
            {joinFacts(
              state === 'open' && importTexts.openWhy,
              countsText(counts),
              nameOf(begunBy),
              timeAgo(createdAt),
            )}
          </span>
        </>
      }
    >
      {state !== 'reverted' && counts.created > 0 && (
        <ConfirmButton
          act={importTexts.undo}
          about={name}
          title={importTexts.undoTitle(name)}
          why={importTexts.undoWhy}
          run={undo}
        />
      )}
    </ListItem>
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
  // The React key of the form. Increasing it resets the form for another file.
  const [form, setForm] = useState(0);
  return (
    <>
      <Section
        id="import"
        title={texts.sections.import}
        intro={mayWrite ? importTexts.intro : importTexts.archived}
      >
        {mayWrite && (
          <Suspense fallback={<Loading label={texts.loading} rows={3} />}>
            <BringIn
              key={form}
              projectId={projectId}
              projectKey={projectKey}
              onOther={() => setForm(form + 1)}
            />
          </Suspense>
        )}
      </Section>
      <Section id="imports" title={importTexts.list} intro={importTexts.listIntro}>
        <QueryList query={imports} empty={importTexts.empty} emptyWhy={importTexts.emptyWhy}>
          {(one) => <ImportRow key={one.id} one={one} />}
        </QueryList>
      </Section>
    </>
  );
}
