/** Identity providers: issuers of OpenID Connect by which people of the organization sign in. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type IdentityProvider } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { timeAgo } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { ConfirmButton } from '../components/ask.tsx';
import {
  CopyButton,
  joinFacts,
  Form,
  ListItem,
  FormField,
  QueryList,
  OpenFormButton,
  Section,
  useSettingsWrite,
} from './components.tsx';
import { providersQuery } from './queries.ts';

interface ProviderFields {
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly domains: string;
  readonly trustsAddresses: boolean;
}

const initialFieldsOf = (provider: IdentityProvider | undefined): ProviderFields => ({
  name: provider?.name ?? '',
  issuer: provider?.issuer ?? '',
  clientId: provider?.clientId ?? '',
  clientSecret: '',
  domains: provider?.domains.map(({ domain }) => domain).join(' ') ?? '',
  trustsAddresses: provider?.trustsAddresses ?? false,
});

interface ProviderInputsProps {
  readonly fields: ProviderFields;
  readonly changeFields: (change: Partial<ProviderFields>) => void;
  readonly hasSecret: boolean;
}

const ProviderInputs = ({ fields, changeFields, hasSecret }: ProviderInputsProps) => (
  <>
    <div className="form-row">
      <FormField name={texts.providers.issuer} hint={texts.providers.issuerHint}>
        <input
          className="field"
          type="url"
          required
          autoFocus
          placeholder="https://"
          value={fields.issuer}
          onChange={({ target }) => changeFields({ issuer: target.value })}
        />
      </FormField>
      <FormField name={texts.name} hint={texts.providers.nameHint}>
        <input
          className="field"
          maxLength={120}
          value={fields.name}
          onChange={({ target }) => changeFields({ name: target.value })}
        />
      </FormField>
    </div>
    <div className="form-row">
      <FormField name={texts.providers.clientId}>
        <input
          className="field"
          required
          maxLength={255}
          value={fields.clientId}
          onChange={({ target }) => changeFields({ clientId: target.value })}
        />
      </FormField>
      <FormField
        name={texts.providers.clientSecret}
        hint={hasSecret ? texts.providers.secretStays : texts.providers.secretHint}
      >
        <input
          className="field"
          type="password"
          autoComplete="off"
          maxLength={1_000}
          value={fields.clientSecret}
          onChange={({ target }) => changeFields({ clientSecret: target.value })}
        />
      </FormField>
    </div>
    <FormField name={texts.providers.domains} hint={texts.providers.domainsHint}>
      <input
        className="field"
        required
        placeholder="acme.example"
        value={fields.domains}
        onChange={({ target }) => changeFields({ domains: target.value })}
      />
    </FormField>
    <label className="switch">
      <input
        type="checkbox"
        checked={fields.trustsAddresses}
        onChange={({ target }) => changeFields({ trustsAddresses: target.checked })}
      />
      {texts.providers.trusts}
    </label>
  </>
);

interface ProviderFormProps {
  readonly provider: IdentityProvider | undefined;
  readonly redirectUrl: string | undefined;
  readonly onClose: () => void;
}

function ProviderForm({ provider, redirectUrl, onClose }: ProviderFormProps) {
  const { identityProviders } = useClient();
  const { isBusy, run } = useSettingsWrite();
  const [typed, setTyped] = useState(() => initialFieldsOf(provider));
  const save = async (): Promise<boolean> => {
    const { name, issuer, clientId, clientSecret, domains, trustsAddresses } = typed;
    const isSaved = await run(
      () =>
        identityProviders.upsert({
          ...(provider !== undefined && { providerId: provider.id, expectedVersion: provider.version }),
          ...(name !== '' && { name }),
          ...(clientSecret !== '' && { clientSecret }),
          ...{ issuer, clientId, trustsAddresses, domains: domains.split(/[\s,]+/).filter(Boolean) },
        }),
      texts.saved,
    );
    if (isSaved) onClose();
    return isSaved;
  };
  return (
    <Form
      submitLabel={provider === undefined ? texts.providers.make : texts.save}
      isBusy={isBusy}
      onSubmit={save}
      onCancel={onClose}
    >
      {redirectUrl !== undefined && (
        <div className="copy-line">
          <p className="hint">
            {texts.providers.redirect} <code>{redirectUrl}</code>
          </p>
          <CopyButton name={texts.providers.redirectName} value={redirectUrl} />
        </div>
      )}
      <ProviderInputs
        fields={typed}
        changeFields={(change) => setTyped((last) => ({ ...last, ...change }))}
        hasSecret={provider?.hasSecret === true}
      />
    </Form>
  );
}

interface ProviderRowProps {
  readonly provider: IdentityProvider;
  readonly onEdit: () => void;
}

function ProviderRow({ provider, onEdit }: ProviderRowProps) {
  const { identityProviders } = useClient();
  const { isBusy, run } = useSettingsWrite();
  const { id: providerId, name, issuer, check, domains } = provider;
  const isGood = check !== null && check.problem === null;
  return (
    <ListItem
      title={name}
      details={
        <>
          <span>{joinFacts(issuer)}</span>
          <span className="state" data-tone={check === null ? 'wait' : isGood ? 'good' : 'bad'}>
            {check === null
              ? texts.providers.testing
              : (check.problem ?? texts.providers.answers(timeAgo(check.at)))}
          </span>
          {domains.map(({ domain, record, provenAt, missingSince }) => (
            <div key={domain} className="row-quote">
              {domain}{' '}
              <span
                className="state"
                data-tone={provenAt === null ? 'wait' : missingSince === null ? 'good' : 'bad'}
              >
                {provenAt === null
                  ? texts.providers.unproven
                  : missingSince === null
                    ? texts.providers.proven
                    : texts.providers.missing(timeAgo(missingSince))}
              </span>
              {(provenAt === null || missingSince !== null) && (
                <div className="copy-line">
                  <p className="muted">
                    {texts.providers.record} <code>{record.name}</code> <code>{record.value}</code>
                  </p>
                  <CopyButton name={texts.providers.recordOf(domain)} value={record.value} />
                </div>
              )}
            </div>
          ))}
        </>
      }
    >
      <button
        type="button"
        className="button"
        data-kind="quiet"
        disabled={isBusy}
        onClick={() => void run(() => identityProviders.test({ providerId }))}
      >
        {texts.providers.test}
        <span className="sr-only"> {name}</span>
      </button>
      <button type="button" className="button" data-kind="quiet" onClick={onEdit}>
        {texts.edit}
        <span className="sr-only"> {name}</span>
      </button>
      <ConfirmButton
        actionLabel={texts.remove}
        subject={name}
        title={texts.providers.removeTitle(name)}
        explanation={texts.providers.removeWhy}
        onConfirm={() => run(() => identityProviders.delete({ providerId }))}
      />
    </ListItem>
  );
}

export function Providers() {
  const providers = useQuery(providersQuery(useClient()));
  const [edited, setEdited] = useState<IdentityProvider | 'new' | null>(null);
  const items = providers.data?.items;
  return (
    <Section
      id="providers"
      title={texts.sections.providers}
      intro={texts.providers.intro}
      headerAction={
        edited === null && <OpenFormButton name={texts.providers.make} onOpen={() => setEdited('new')} />
      }
    >
      {edited !== null && (
        <ProviderForm
          key={edited === 'new' ? edited : edited.id}
          provider={edited === 'new' ? undefined : edited}
          redirectUrl={providers.data?.redirectUrl}
          onClose={() => setEdited(null)}
        />
      )}
      <QueryList
        query={{ ...providers, data: items }}
        emptyTitle={texts.providers.empty}
        emptyWhy={texts.providers.emptyWhy}
      >
        {(provider) => (
          <ProviderRow key={provider.id} provider={provider} onEdit={() => setEdited(provider)} />
        )}
      </QueryList>
    </Section>
  );
}
