/** Connections to forges, and the repositories that are linked to a project. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ForgeConnection, type ForgeKind, type ForgeRepository } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { timeAgo } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { ConfirmButton } from '../components/ask.tsx';
import {
  SelectField,
  joinFacts,
  Form,
  ListItem,
  FormField,
  QueryList,
  OneTimeSecrets,
  OpenFormButton,
  Section,
  useSettingsWrite,
} from './components.tsx';
import { forgesQuery, repositoriesQuery } from './queries.ts';
import { useIsAdmin } from './rights.ts';

interface WebhookSetup {
  readonly webhookUrl: string;
  readonly secret: string;
}

interface ConnectForgeFormProps {
  readonly onConnected: (setUp: WebhookSetup) => void;
  readonly onClose: () => void;
}

function ConnectForgeForm({ onConnected, onClose }: ConnectForgeFormProps) {
  const { forges } = useClient();
  const [kind, setKind] = useState<ForgeKind>('github');
  const [baseUrl, setBaseUrl] = useState('');
  const [token, setToken] = useState('');
  const { isBusy, run } = useSettingsWrite();
  const isOwnServer = kind === 'gitea' || kind === 'forgejo';
  const connect = (): Promise<boolean> =>
    run(async () => {
      const { setup } = await forges.connect({
        kind,
        ...(baseUrl !== '' && { baseUrl }),
        ...(token !== '' && { credentials: { token } }),
      });
      onConnected(setup);
    });
  return (
    <Form submitLabel={texts.forges.connect} isBusy={isBusy} onSubmit={connect} onCancel={onClose}>
      <div className="form-row">
        <SelectField
          label={texts.forges.kind}
          value={kind}
          optionLabels={texts.forges.kinds}
          onChange={setKind}
        />
        <FormField name={texts.forges.url}>
          <input
            className="field"
            type="url"
            required={isOwnServer}
            placeholder={isOwnServer ? 'https://' : `https://${kind}.com`}
            value={baseUrl}
            onChange={({ target }) => setBaseUrl(target.value)}
          />
        </FormField>
      </div>
      <FormField name={texts.forges.token} hint={texts.forges.tokenHint}>
        <input
          className="field"
          type="password"
          autoComplete="off"
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
      </FormField>
    </Form>
  );
}

function ForgeRow({ connection }: { readonly connection: ForgeConnection }) {
  const { forges } = useClient();
  const { run } = useSettingsWrite();
  const { id: connectionId, kind, name, baseUrl, lastDeliveryAt, lastError } = connection;
  return (
    <ListItem
      title={name}
      details={
        <>
          <span>
            {joinFacts(
              texts.forges.kinds[kind],
              baseUrl,
              lastDeliveryAt === null
                ? texts.forges.noDelivery
                : texts.forges.lastDelivery(timeAgo(lastDeliveryAt)),
            )}
          </span>
          {lastError !== null && (
            <span className="state" data-tone="bad">
              {joinFacts(timeAgo(lastError.at), lastError.message)}
            </span>
          )}
        </>
      }
    >
      <ConfirmButton
        actionLabel={texts.forges.disconnect}
        subject={name}
        title={texts.forges.disconnectTitle(name)}
        explanation={texts.forges.disconnectWhy}
        onConfirm={() => run(() => forges.disconnect({ connectionId }))}
      />
    </ListItem>
  );
}

export function ForgeSettings() {
  const [isMaking, setMaking] = useState(false);
  const [setUp, setSetUp] = useState<WebhookSetup | null>(null);
  const forges = useQuery(forgesQuery(useClient()));
  return (
    <Section
      id="forges"
      title={texts.sections.forges}
      intro={texts.forges.intro}
      headerAction={
        !isMaking && <OpenFormButton name={texts.forges.connect} onOpen={() => setMaking(true)} />
      }
    >
      {isMaking && (
        <ConnectForgeForm
          onClose={() => setMaking(false)}
          onConnected={(made) => {
            setSetUp(made);
            setMaking(false);
          }}
        />
      )}
      {setUp !== null && (
        <OneTimeSecrets
          title={texts.forges.made}
          values={[
            [texts.forges.webhookUrl, setUp.webhookUrl],
            [texts.forges.secret, setUp.secret],
          ]}
          onClose={() => setSetUp(null)}
        />
      )}
      <QueryList query={forges} emptyTitle={texts.forges.empty} emptyWhy={texts.forges.emptyWhy}>
        {(connection) => <ForgeRow key={connection.id} connection={connection} />}
      </QueryList>
    </Section>
  );
}

function RepositoryRow({ repository }: { readonly repository: ForgeRepository }) {
  const { forges } = useClient();
  const { run } = useSettingsWrite();
  const { projectId, connectionId, externalId, url, fullName, defaultBranch } = repository;
  const name = fullName ?? url ?? externalId ?? '';
  const which = url === null ? { externalId: externalId ?? '' } : { url };
  return (
    <ListItem title={name} details={joinFacts(url, defaultBranch)}>
      <button
        type="button"
        className="button"
        data-kind="quiet"
        onClick={() => void run(() => forges.repositories.unlink({ projectId, connectionId, ...which }))}
      >
        {texts.forges.unlink}
        <span className="sr-only"> {name}</span>
      </button>
    </ListItem>
  );
}

export function RepositorySettings({ projectId }: { readonly projectId: string }) {
  const client = useClient();
  const isAdmin = useIsAdmin();
  const connections = useQuery({ ...forgesQuery(client), enabled: isAdmin });
  const repositories = useQuery(repositoriesQuery(client, projectId));
  const [url, setUrl] = useState('');
  const [chosen, setChosen] = useState('');
  const { isBusy, run } = useSettingsWrite();
  const all = connections.data ?? [];
  const connectionId = chosen === '' ? (all[0]?.id ?? '') : chosen;
  const link = async (): Promise<boolean> => {
    const isDone = await run(() => client.forges.repositories.link({ projectId, connectionId, url }));
    if (isDone) setUrl('');
    return isDone;
  };
  return (
    <Section id="repositories" title={texts.forges.repositories} intro={texts.forges.repositoriesIntro}>
      <QueryList
        query={repositories}
        emptyTitle={texts.forges.noRepositories}
        {...(all.length === 0 && { emptyWhy: texts.forges.connectFirst })}
      >
        {(repository) => <RepositoryRow key={repository.id} repository={repository} />}
      </QueryList>
      {all.length > 0 && (
        <Form submitLabel={texts.forges.link} isBusy={isBusy} onSubmit={link}>
          <div className="form-row">
            <SelectField
              label={texts.forges.via}
              value={connectionId}
              optionLabels={Object.fromEntries(all.map(({ id, name }) => [id, name]))}
              onChange={setChosen}
            />
            <FormField name={texts.forges.repository}>
              <input
                className="field"
                type="url"
                required
                placeholder="https://"
                value={url}
                onChange={({ target }) => setUrl(target.value)}
              />
            </FormField>
          </div>
        </Form>
      )}
    </Section>
  );
}
