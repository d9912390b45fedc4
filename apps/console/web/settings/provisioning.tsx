/** Provisioning by SCIM: its address, and the tokens that identity providers use. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useClient } from '../data/context.ts';
import { membersQuery } from '../data/people-queries.ts';
import { texts } from '../messages/settings.ts';
import { CopyButton, OneTimeSecrets, OpenFormButton, QueryList, Section } from './components.tsx';
import { tokensQuery } from './queries.ts';
import { type CreatedToken, NewTokenForm, TokenRow } from './tokens.tsx';

export function Provisioning() {
  const client = useClient();
  const [isFormOpen, setFormOpen] = useState(false);
  const [created, setCreated] = useState<CreatedToken | null>(null);
  const tokens = useQuery(tokensQuery(client));
  const members = useQuery(membersQuery(client)).data ?? [];
  // The console has the same origin as the API.
  const address = `${location.origin}/scim/v2`;
  return (
    <Section
      id="provisioning"
      title={texts.sections.provisioning}
      intro={texts.provisioning.intro}
      headerAction={
        !isFormOpen && <OpenFormButton name={texts.tokens.make} onOpen={() => setFormOpen(true)} />
      }
    >
      <div className="copy-line">
        <p>
          {texts.provisioning.address} <code>{address}</code>
        </p>
        <CopyButton name={texts.provisioning.address} value={address} />
      </div>
      {isFormOpen && (
        <>
          <p className="hint">{texts.provisioning.rights}</p>
          <NewTokenForm
            isForProvisioning
            onClose={() => setFormOpen(false)}
            onCreated={(token) => {
              setCreated(token);
              setFormOpen(false);
            }}
          />
        </>
      )}
      {created !== null && (
        <OneTimeSecrets
          title={texts.tokens.made}
          values={[[created.name, created.secret]]}
          onClose={() => setCreated(null)}
        />
      )}
      <QueryList
        query={{ ...tokens, data: tokens.data?.filter(({ scopes }) => scopes.includes('scim')) }}
        emptyTitle={texts.provisioning.empty}
        emptyWhy={texts.provisioning.emptyWhy}
      >
        {(token) => (
          <TokenRow
            key={token.id}
            token={token}
            owners={{ members, agents: [], includesOtherMembers: true }}
          />
        )}
      </QueryList>
    </Section>
  );
}
