/** Interfaces that the stories of a project agree on. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Contract, type ContractKind } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { ago } from '../messages/index.ts';
import { nameOf } from '../components/people.tsx';
import { notify } from '../components/notices.tsx';
import { s } from '../messages/settings.ts';
import { Choice, facts, Form, Item, Label, Listed, Opener, Section, useWrite } from './components.tsx';
import { contractsQuery } from './queries.ts';

function Publish({
  projectId,
  contract,
  onClose,
}: {
  readonly projectId: string;
  readonly contract: Contract | null;
  readonly onClose: () => void;
}) {
  const { contracts } = useClient();
  const [slug, setSlug] = useState(contract?.slug ?? '');
  const [kind, setKind] = useState<ContractKind>(contract?.kind ?? 'openapi');
  const [content, setContent] = useState(contract?.content ?? '');
  const [note, setNote] = useState('');
  const { isBusy, run } = useWrite();
  const publish = async (): Promise<boolean> => {
    const isDone = await run(async () => {
      const { contract: made, created } = await contracts.publish({
        ...{ projectId, slug, kind, content, baseVersion: contract?.version ?? 0 },
        ...(note !== '' && { note }),
      });
      notify({
        tone: created ? 'good' : 'warn',
        title: created ? s.contracts.published(slug, made.version) : s.contracts.same,
      });
    });
    if (isDone) onClose();
    return isDone;
  };
  return (
    <Form act={s.contracts.act} isBusy={isBusy} onSubmit={publish} onCancel={onClose}>
      <div className="form-row">
        <Label name={s.contracts.slug} hint={s.prompts.slugHint}>
          <input
            className="field mono"
            required
            pattern="[a-z0-9\-]{1,64}"
            readOnly={contract !== null}
            value={slug}
            onChange={({ target }) => setSlug(target.value)}
          />
        </Label>
        <Choice label={s.contracts.kind} value={kind} words={s.contracts.kinds} onChange={setKind} />
      </div>
      <Label name={s.contracts.content}>
        <textarea
          className="field mono"
          required
          rows={12}
          spellCheck={false}
          value={content}
          onChange={({ target }) => setContent(target.value)}
        />
      </Label>
      <Label name={s.contracts.note}>
        <input
          className="field"
          maxLength={500}
          value={note}
          onChange={({ target }) => setNote(target.value)}
        />
      </Label>
    </Form>
  );
}

function One({ contract, mayWrite }: { readonly contract: Contract; readonly mayWrite: boolean }) {
  const [shows, setShows] = useState<'content' | 'form' | null>(null);
  const { slug, version, kind, note, publishedBy, createdAt, content, projectId } = contract;
  if (shows === 'form')
    return (
      <li>
        <Publish projectId={projectId} contract={contract} onClose={() => setShows(null)} />
      </li>
    );
  return (
    <>
      <Item
        title={<span className="mono">{slug}</span>}
        fact={facts(
          s.contracts.kinds[kind],
          s.prompts.version(version),
          nameOf(publishedBy),
          ago(createdAt),
          note,
        )}
      >
        <button
          type="button"
          className="button"
          data-kind="quiet"
          aria-expanded={shows === 'content'}
          onClick={() => setShows(shows === null ? 'content' : null)}
        >
          {s.contracts.show}
          <span className="sr-only"> {slug}</span>
        </button>
        {mayWrite && (
          <button type="button" className="button" data-kind="quiet" onClick={() => setShows('form')}>
            {s.contracts.newVersion}
            <span className="sr-only"> {slug}</span>
          </button>
        )}
      </Item>
      {shows === 'content' && content !== null && (
        <li>
          {/* Focusable, so that keys can scroll it. */}
          <pre className="code" tabIndex={0} role="region" aria-label={slug}>
            {content}
          </pre>
        </li>
      )}
    </>
  );
}

export function Contracts({
  projectId,
  mayWrite,
}: {
  readonly projectId: string;
  readonly mayWrite: boolean;
}) {
  const [isMaking, setMaking] = useState(false);
  const contracts = useQuery(contractsQuery(useClient(), projectId));
  return (
    <Section
      id="contracts"
      title={s.sections.contracts}
      intro={s.contracts.intro}
      act={mayWrite && !isMaking && <Opener name={s.contracts.publish} onOpen={() => setMaking(true)} />}
    >
      {isMaking && <Publish projectId={projectId} contract={null} onClose={() => setMaking(false)} />}
      <Listed query={contracts} empty={s.contracts.empty} emptyWhy={s.contracts.emptyWhy}>
        {(contract) => <One key={contract.id} contract={contract} mayWrite={mayWrite} />}
      </Listed>
    </Section>
  );
}
