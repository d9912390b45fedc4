/** Commands to paste into a client for a new token, and the first call that arrives with the token. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useClient } from '../data/context.ts';
import { Icon } from '../components/icons.tsx';
import { connectTexts } from '../messages/connect.ts';
import { CopyButton } from '../settings/components.tsx';
import { tokensQuery } from '../settings/queries.ts';
import { type ClientAccess, type ClientName, mcpSnippet, setupCommand } from './client-setup.ts';

const pollingIntervalMs = 2_000;
const clientNames = Object.keys(connectTexts.clients) as ClientName[];

/** Shows whether a call with the token has arrived. */
function FirstCallStatus({ tokenId }: { readonly tokenId: string }) {
  const tokens = useQuery({
    ...tokensQuery(useClient()),
    // The use of a token is no event, so the list is polled.
    refetchInterval: ({ state }) =>
      state.data?.some(({ id, lastUsedAt }) => id === tokenId && lastUsedAt !== null) === true
        ? false
        : pollingIntervalMs,
  });
  const isUsed = tokens.data?.some(({ id, lastUsedAt }) => id === tokenId && lastUsedAt !== null) === true;
  return (
    <p className="state" data-tone={isUsed ? 'good' : 'wait'} role="status">
      {isUsed ? <Icon name="tick" size={14} /> : <span className="pulse" data-state="opening" />}
      {isUsed ? connectTexts.used : connectTexts.waiting}
    </p>
  );
}

interface ClientTabsProps {
  readonly chosen: ClientName;
  readonly onChoose: (client: ClientName) => void;
}

export const ClientTabs = ({ chosen, onChoose }: ClientTabsProps) => (
  <div className="tabs" role="group" aria-label={connectTexts.client}>
    {clientNames.map((name) => (
      <button
        key={name}
        type="button"
        className="tab"
        aria-pressed={name === chosen}
        onClick={() => onChoose(name)}
      >
        {connectTexts.clients[name]}
      </button>
    ))}
  </div>
);

interface SnippetProps {
  readonly title: string;
  readonly explanation: string;
  readonly snippet: string;
}

const Snippet = ({ title, explanation, snippet }: SnippetProps) => (
  <div className="connect-way">
    <h4>{title}</h4>
    <p className="muted">{explanation}</p>
    <div className="connect-snippet">
      <pre tabIndex={0} aria-label={title}>
        <code>{snippet}</code>
      </pre>
      <CopyButton key={snippet} name={title} value={snippet} />
    </div>
  </div>
);

interface ClientInstructionsProps {
  readonly client: ClientName;
  readonly tokenId: string;
  readonly access: ClientAccess;
}

/** The commands for one client, and whether its first call has arrived. */
export function ClientInstructions({ client, tokenId, access }: ClientInstructionsProps) {
  const mcp = mcpSnippet(client, access);
  return (
    <>
      <Snippet
        title={connectTexts.setup}
        explanation={
          client === 'commandLine'
            ? connectTexts.commandLineWhy
            : connectTexts.setupWhy(connectTexts.clients[client])
        }
        snippet={setupCommand(client, access)}
      />
      {mcp !== null && (
        <Snippet title={connectTexts.mcp} explanation={connectTexts.mcpWhere[client]} snippet={mcp} />
      )}
      <FirstCallStatus tokenId={tokenId} />
    </>
  );
}

/** The commands for all clients with a token that was just created. */
export function ConnectClientInstructions(props: Omit<ClientInstructionsProps, 'client'>) {
  const [client, setClient] = useState<ClientName>('claude');
  return (
    <section className="connect" aria-labelledby="connect">
      <h3 id="connect">{connectTexts.title}</h3>
      <ClientTabs chosen={client} onChoose={setClient} />
      <ClientInstructions client={client} {...props} />
    </section>
  );
}
