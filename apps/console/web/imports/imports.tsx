/** The imports of a project: a form for a new one, and the list of earlier ones. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Import, type ImportOutcome } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { lazyComponent } from '../components/lazily.ts';
import { Avatar, actorNameOf } from '../components/people.tsx';
import { showNotice } from '../components/notices.tsx';
import { Loading } from '../components/states.tsx';
import { ConfirmButton } from '../components/ask.tsx';
import { joinFacts, ListItem, QueryList, Section, useSettingsWrite } from '../settings/components.tsx';
import { importsQuery } from '../settings/queries.ts';
import { timeAgo } from '../messages/index.ts';
import { importTexts } from '../messages/imports.ts';
import { texts } from '../messages/settings.ts';

/** Loaded on demand with the formats of trackers and the schemas of items, which only an import needs. */
const ImportPanel = lazyComponent(
  async () => ({ default: (await import('./bring-in.tsx')).ImportPanel }),
  () => <Loading label={texts.loading} rows={3} />,
);

const importOutcomes: readonly ImportOutcome[] = ['created', 'updated', 'unchanged', 'kept', 'refused'];
const toneByState = { open: 'wait', finished: 'good', reverted: 'none' } as const;

export const formatCounts = (counts: Readonly<Record<ImportOutcome, number>>): string =>
  joinFacts(
    ...importOutcomes.map(
      (one) => counts[one] > 0 && `${counts[one].toLocaleString()} ${importTexts.counts[one]}`,
    ),
  );

function ImportRow({ one: importRecord }: { readonly one: Import }) {
  const { imports } = useClient();
  const { run } = useSettingsWrite();
  const { id: importId, name, state, counts, begunBy, createdAt } = importRecord;
  const undo = (): Promise<boolean> =>
    run(async () => {
      const { removed, kept } = await imports.undo({ importId });
      const keys = kept.map(({ key }) => key).join(', ');
      showNotice({
        ...{ tone: 'good', title: importTexts.undone(removed) },
        ...(kept.length > 0 && { body: importTexts.undoneKept(kept.length, keys) }),
      });
    });
  return (
    <ListItem
      leadingElement={<Avatar name={begunBy.name} kind={begunBy.kind} />}
      title={name}
      details={
        <>
          <span className="state" data-tone={toneByState[state]}>
            {importTexts.states[state]}
          </span>
          <span>
            {joinFacts(
              state === 'open' && importTexts.openWhy,
              formatCounts(counts),
              actorNameOf(begunBy),
              timeAgo(createdAt),
            )}
          </span>
        </>
      }
    >
      {state !== 'reverted' && counts.created > 0 && (
        <ConfirmButton
          actionLabel={importTexts.undo}
          subject={name}
          title={importTexts.undoTitle(name)}
          explanation={importTexts.undoWhy}
          onConfirm={undo}
        />
      )}
    </ListItem>
  );
}

interface ImportsProps {
  readonly projectId: string;
  readonly projectKey: string;
  readonly mayWrite: boolean;
}

export function Imports({ projectId, projectKey, mayWrite }: ImportsProps) {
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
          <ImportPanel
            key={form}
            projectId={projectId}
            projectKey={projectKey}
            onNewImport={() => setForm(form + 1)}
          />
        )}
      </Section>
      <Section id="imports" title={importTexts.list} intro={importTexts.listIntro}>
        <QueryList query={imports} emptyTitle={importTexts.empty} emptyWhy={importTexts.emptyWhy}>
          {(one) => <ImportRow key={one.id} one={one} />}
        </QueryList>
      </Section>
    </>
  );
}
