/** Interfaces that the stories of a project agree on. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Contract, type ContractKind } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { timeAgo } from '../messages/index.ts';
import { actorNameOf } from '../components/people.tsx';
import { showNotice } from '../components/notices.tsx';
import { texts } from '../messages/settings.ts';
import {
  SelectField,
  joinFacts,
  Form,
  ListItem,
  FormField,
  QueryList,
  OpenFormButton,
  Section,
  useSettingsWrite,
} from './components.tsx';
import { contractsQuery } from './queries.ts';

interface PublishContractFormProps {
  readonly projectId: string;
  readonly contract: Contract | null;
  readonly onClose: () => void;
}

function PublishContractForm({ projectId, contract, onClose }: PublishContractFormProps) {
  const { contracts } = useClient();
  const [slug, setSlug] = useState(contract?.slug ?? '');
  const [kind, setKind] = useState<ContractKind>(contract?.kind ?? 'openapi');
  const [content, setContent] = useState(contract?.content ?? '');
  const [note, setNote] = useState('');
  const { isBusy, run } = useSettingsWrite();
  const publish = async (): Promise<boolean> => {
    const isDone = await run(async () => {
      const { contract: made, created } = await contracts.publish({
        ...{ projectId, slug, kind, content, baseVersion: contract?.version ?? 0 },
        ...(note !== '' && { note }),
      });
      showNotice({
        tone: created ? 'good' : 'warn',
        title: created ? texts.contracts.published(slug, made.version) : texts.contracts.same,
      });
    });
    if (isDone) onClose();
    return isDone;
  };
  return (
    <Form submitLabel={texts.contracts.act} isBusy={isBusy} onSubmit={publish} onCancel={onClose}>
      <div className="form-row">
        <FormField name={texts.contracts.slug} hint={texts.prompts.slugHint}>
          <input
            className="field mono"
            required
            pattern="[a-z0-9\-]{1,64}"
            readOnly={contract !== null}
            value={slug}
            onChange={({ target }) => setSlug(target.value)}
          />
        </FormField>
        <SelectField
          label={texts.contracts.kind}
          value={kind}
          optionLabels={texts.contracts.kinds}
          onChange={setKind}
        />
      </div>
      <FormField name={texts.contracts.content}>
        <textarea
          className="field mono"
          required
          rows={12}
          spellCheck={false}
          value={content}
          onChange={({ target }) => setContent(target.value)}
        />
      </FormField>
      <FormField name={texts.contracts.note}>
        <input
          className="field"
          maxLength={500}
          value={note}
          onChange={({ target }) => setNote(target.value)}
        />
      </FormField>
    </Form>
  );
}

function ContractRow({ contract, mayWrite }: { readonly contract: Contract; readonly mayWrite: boolean }) {
  const [shows, setShows] = useState<'content' | 'form' | null>(null);
  const { slug, version, kind, note, publishedBy, createdAt, content, projectId } = contract;
  if (shows === 'form')
    return (
      <li>
        <PublishContractForm projectId={projectId} contract={contract} onClose={() => setShows(null)} />
      </li>
    );
  return (
    <>
      <ListItem
        title={<span className="mono">{slug}</span>}
        details={joinFacts(
          texts.contracts.kinds[kind],
          texts.prompts.version(version),
          actorNameOf(publishedBy),
          timeAgo(createdAt),
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
          {texts.contracts.show}
          <span className="sr-only"> {slug}</span>
        </button>
        {mayWrite && (
          <button type="button" className="button" data-kind="quiet" onClick={() => setShows('form')}>
            {texts.contracts.newVersion}
            <span className="sr-only"> {slug}</span>
          </button>
        )}
      </ListItem>
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

interface ContractsProps {
  readonly projectId: string;
  readonly mayWrite: boolean;
}

export function Contracts({ projectId, mayWrite }: ContractsProps) {
  const [isMaking, setMaking] = useState(false);
  const contracts = useQuery(contractsQuery(useClient(), projectId));
  return (
    <Section
      id="contracts"
      title={texts.sections.contracts}
      intro={texts.contracts.intro}
      headerAction={
        mayWrite &&
        !isMaking && <OpenFormButton name={texts.contracts.publish} onOpen={() => setMaking(true)} />
      }
    >
      {isMaking && (
        <PublishContractForm projectId={projectId} contract={null} onClose={() => setMaking(false)} />
      )}
      <QueryList query={contracts} emptyTitle={texts.contracts.empty} emptyWhy={texts.contracts.emptyWhy}>
        {(contract) => <ContractRow key={contract.id} contract={contract} mayWrite={mayWrite} />}
      </QueryList>
    </Section>
  );
}
