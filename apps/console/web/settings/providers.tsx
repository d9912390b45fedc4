/** Identity providers: issuers of OpenID Connect by which people of the organization sign in. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type IdentityProvider } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { ago } from '../messages/index.ts';
import { s } from '../messages/settings.ts';
import { Ask } from '../components/ask.tsx';
import { Copy, facts, Form, Item, Label, Listed, Opener, Section, useWrite } from './components.tsx';
import { providersQuery } from './queries.ts';

interface Typed {
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly domains: string;
  readonly trustsAddresses: boolean;
}

const typedOf = (provider: IdentityProvider | undefined): Typed => ({
  name: provider?.name ?? '',
  issuer: provider?.issuer ?? '',
  clientId: provider?.clientId ?? '',
  clientSecret: '',
  domains: provider?.domains.map(({ domain }) => domain).join(' ') ?? '',
  trustsAddresses: provider?.trustsAddresses ?? false,
});

const Fields = ({
  typed,
  set,
  hasSecret,
}: {
  readonly typed: Typed;
  readonly set: (change: Partial<Typed>) => void;
  readonly hasSecret: boolean;
}) => (
  <>
    <div className="form-row">
      <Label name={s.providers.issuer} hint={s.providers.issuerHint}>
        <input
          className="field"
          type="url"
          required
          autoFocus
          placeholder="https://"
          value={typed.issuer}
          onChange={({ target }) => set({ issuer: target.value })}
        />
      </Label>
      <Label name={s.name} hint={s.providers.nameHint}>
        <input
          className="field"
          maxLength={120}
          value={typed.name}
          onChange={({ target }) => set({ name: target.value })}
        />
      </Label>
    </div>
    <div className="form-row">
      <Label name={s.providers.clientId}>
        <input
          className="field"
          required
          maxLength={255}
          value={typed.clientId}
          onChange={({ target }) => set({ clientId: target.value })}
        />
      </Label>
      <Label
        name={s.providers.clientSecret}
        hint={hasSecret ? s.providers.secretStays : s.providers.secretHint}
      >
        <input
          className="field"
          type="password"
          autoComplete="off"
          maxLength={1_000}
          value={typed.clientSecret}
          onChange={({ target }) => set({ clientSecret: target.value })}
        />
      </Label>
    </div>
    <Label name={s.providers.domains} hint={s.providers.domainsHint}>
      <input
        className="field"
        required
        placeholder="acme.example"
        value={typed.domains}
        onChange={({ target }) => set({ domains: target.value })}
      />
    </Label>
    <label className="switch">
      <input
        type="checkbox"
        checked={typed.trustsAddresses}
        onChange={({ target }) => set({ trustsAddresses: target.checked })}
      />
      {s.providers.trusts}
    </label>
  </>
);

function Edit({
  provider,
  redirectUrl,
  onClose,
}: {
  readonly provider: IdentityProvider | undefined;
  readonly redirectUrl: string | undefined;
  readonly onClose: () => void;
}) {
  const { identityProviders } = useClient();
  const { isBusy, run } = useWrite();
  const [typed, setTyped] = useState(() => typedOf(provider));
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
      s.saved,
    );
    if (isSaved) onClose();
    return isSaved;
  };
  return (
    <Form
      act={provider === undefined ? s.providers.make : s.save}
      isBusy={isBusy}
      onSubmit={save}
      onCancel={onClose}
    >
      {redirectUrl !== undefined && (
        <div className="copy-line">
          <p className="hint">
            {s.providers.redirect} <code>{redirectUrl}</code>
          </p>
          <Copy name={s.providers.redirectName} value={redirectUrl} />
        </div>
      )}
      <Fields
        typed={typed}
        set={(change) => setTyped((last) => ({ ...last, ...change }))}
        hasSecret={provider?.hasSecret === true}
      />
    </Form>
  );
}

function One({ provider, onEdit }: { readonly provider: IdentityProvider; readonly onEdit: () => void }) {
  const { identityProviders } = useClient();
  const { isBusy, run } = useWrite();
  const { id: providerId, name, issuer, check, domains } = provider;
  const isGood = check !== null && check.problem === null;
  return (
    <Item
      title={name}
      fact={
        <>
          <span>{facts(issuer)}</span>
          <span className="state" data-tone={check === null ? 'wait' : isGood ? 'good' : 'bad'}>
            {check === null ? s.providers.testing : (check.problem ?? s.providers.answers(ago(check.at)))}
          </span>
          {domains.map(({ domain, record, provenAt, missingSince }) => (
            <div key={domain} className="row-quote">
              {domain}{' '}
              <span
                className="state"
                data-tone={provenAt === null ? 'wait' : missingSince === null ? 'good' : 'bad'}
              >
                {provenAt === null
                  ? s.providers.unproven
                  : missingSince === null
                    ? s.providers.proven
                    : s.providers.missing(ago(missingSince))}
              </span>
              {(provenAt === null || missingSince !== null) && (
                <div className="copy-line">
                  <p className="muted">
                    {s.providers.record} <code>{record.name}</code> <code>{record.value}</code>
                  </p>
                  <Copy name={s.providers.recordOf(domain)} value={record.value} />
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
        {s.providers.test}
        <span className="sr-only"> {name}</span>
      </button>
      <button type="button" className="button" data-kind="quiet" onClick={onEdit}>
        {s.edit}
        <span className="sr-only"> {name}</span>
      </button>
      <Ask
        act={s.remove}
        about={name}
        title={s.providers.removeTitle(name)}
        why={s.providers.removeWhy}
        run={() => run(() => identityProviders.delete({ providerId }))}
      />
    </Item>
  );
}

export function Providers() {
  const providers = useQuery(providersQuery(useClient()));
  const [edited, setEdited] = useState<IdentityProvider | 'new' | null>(null);
  const items = providers.data?.items;
  return (
    <Section
      id="providers"
      title={s.sections.providers}
      intro={s.providers.intro}
      act={edited === null && <Opener name={s.providers.make} onOpen={() => setEdited('new')} />}
    >
      {edited !== null && (
        <Edit
          key={edited === 'new' ? edited : edited.id}
          provider={edited === 'new' ? undefined : edited}
          redirectUrl={providers.data?.redirectUrl}
          onClose={() => setEdited(null)}
        />
      )}
      <Listed query={{ ...providers, data: items }} empty={s.providers.empty} emptyWhy={s.providers.emptyWhy}>
        {(provider) => <One key={provider.id} provider={provider} onEdit={() => setEdited(provider)} />}
      </Listed>
    </Section>
  );
}
