/** Connections to forges, and the repositories that are linked to a project. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ForgeConnection, type ForgeKind, type ForgeRepository } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { ago } from '../messages/index.ts';
import { s } from '../messages/settings.ts';
import { Ask } from '../components/ask.tsx';
import { Choice, facts, Form, Item, Label, Listed, Once, Opener, Section, useWrite } from './components.tsx';
import { forgesQuery, repositoriesQuery } from './queries.ts';
import { useIsAdmin } from './rights.ts';

interface SetUp {
  readonly webhookUrl: string;
  readonly secret: string;
}

function Connect({
  onMade,
  onClose,
}: {
  readonly onMade: (setUp: SetUp) => void;
  readonly onClose: () => void;
}) {
  const { forges } = useClient();
  const [kind, setKind] = useState<ForgeKind>('github');
  const [baseUrl, setBaseUrl] = useState('');
  const [token, setToken] = useState('');
  const { isBusy, run } = useWrite();
  const isOwnServer = kind === 'gitea' || kind === 'forgejo';
  const connect = (): Promise<boolean> =>
    run(async () => {
      const { setup } = await forges.connect({
        kind,
        ...(baseUrl !== '' && { baseUrl }),
        ...(token !== '' && { credentials: { token } }),
      });
      onMade(setup);
    });
  return (
    <Form act={s.forges.connect} isBusy={isBusy} onSubmit={connect} onCancel={onClose}>
      <div className="form-row">
        <Choice label={s.forges.kind} value={kind} words={s.forges.kinds} onChange={setKind} />
        <Label name={s.forges.url}>
          <input
            className="field"
            type="url"
            required={isOwnServer}
            placeholder={isOwnServer ? 'https://' : `https://${kind}.com`}
            value={baseUrl}
            onChange={({ target }) => setBaseUrl(target.value)}
          />
        </Label>
      </div>
      <Label name={s.forges.token} hint={s.forges.tokenHint}>
        <input
          className="field"
          type="password"
          autoComplete="off"
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
      </Label>
    </Form>
  );
}

function One({ connection }: { readonly connection: ForgeConnection }) {
  const { forges } = useClient();
  const { run } = useWrite();
  const { id: connectionId, kind, name, baseUrl, lastDeliveryAt, lastError } = connection;
  return (
    <Item
      title={name}
      fact={
        <>
          <span>
            {facts(
              s.forges.kinds[kind],
              baseUrl,
              lastDeliveryAt === null ? s.forges.noDelivery : s.forges.lastDelivery(ago(lastDeliveryAt)),
            )}
          </span>
          {lastError !== null && (
            <span className="state" data-tone="bad">
              {facts(ago(lastError.at), lastError.message)}
            </span>
          )}
        </>
      }
    >
      <Ask
        act={s.forges.disconnect}
        about={name}
        title={s.forges.disconnectTitle(name)}
        why={s.forges.disconnectWhy}
        run={() => run(() => forges.disconnect({ connectionId }))}
      />
    </Item>
  );
}

export function Forges() {
  const [isMaking, setMaking] = useState(false);
  const [setUp, setSetUp] = useState<SetUp | null>(null);
  const forges = useQuery(forgesQuery(useClient()));
  return (
    <Section
      id="forges"
      title={s.sections.forges}
      intro={s.forges.intro}
      act={!isMaking && <Opener name={s.forges.connect} onOpen={() => setMaking(true)} />}
    >
      {isMaking && (
        <Connect
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setSetUp(made);
            setMaking(false);
          }}
        />
      )}
      {setUp !== null && (
        <Once
          title={s.forges.made}
          values={[
            [s.forges.webhookUrl, setUp.webhookUrl],
            [s.forges.secret, setUp.secret],
          ]}
          onClose={() => setSetUp(null)}
        />
      )}
      <Listed query={forges} empty={s.forges.empty} emptyWhy={s.forges.emptyWhy}>
        {(connection) => <One key={connection.id} connection={connection} />}
      </Listed>
    </Section>
  );
}

function Repository({ repository }: { readonly repository: ForgeRepository }) {
  const { forges } = useClient();
  const { run } = useWrite();
  const { projectId, connectionId, externalId, url, fullName, defaultBranch } = repository;
  const name = fullName ?? url ?? externalId ?? '';
  const which = url === null ? { externalId: externalId ?? '' } : { url };
  return (
    <Item title={name} fact={facts(url, defaultBranch)}>
      <button
        type="button"
        className="button"
        data-kind="quiet"
        onClick={() => void run(() => forges.repositories.unlink({ projectId, connectionId, ...which }))}
      >
        {s.forges.unlink}
        <span className="sr-only"> {name}</span>
      </button>
    </Item>
  );
}

export function Repositories({ projectId }: { readonly projectId: string }) {
  const client = useClient();
  const isAdmin = useIsAdmin();
  const connections = useQuery({ ...forgesQuery(client), enabled: isAdmin });
  const repositories = useQuery(repositoriesQuery(client, projectId));
  const [url, setUrl] = useState('');
  const [chosen, setChosen] = useState('');
  const { isBusy, run } = useWrite();
  const all = connections.data ?? [];
  const connectionId = chosen === '' ? (all[0]?.id ?? '') : chosen;
  const link = async (): Promise<boolean> => {
    const isDone = await run(() => client.forges.repositories.link({ projectId, connectionId, url }));
    if (isDone) setUrl('');
    return isDone;
  };
  return (
    <Section id="repositories" title={s.forges.repositories} intro={s.forges.repositoriesIntro}>
      <Listed
        query={repositories}
        empty={s.forges.noRepositories}
        {...(all.length === 0 && { emptyWhy: s.forges.connectFirst })}
      >
        {(repository) => <Repository key={repository.id} repository={repository} />}
      </Listed>
      {all.length > 0 && (
        <Form act={s.forges.link} isBusy={isBusy} onSubmit={link}>
          <div className="form-row">
            <Choice
              label={s.forges.via}
              value={connectionId}
              words={Object.fromEntries(all.map(({ id, name }) => [id, name]))}
              onChange={setChosen}
            />
            <Label name={s.forges.repository}>
              <input
                className="field"
                type="url"
                required
                placeholder="https://"
                value={url}
                onChange={({ target }) => setUrl(target.value)}
              />
            </Label>
          </div>
        </Form>
      )}
    </Section>
  );
}
